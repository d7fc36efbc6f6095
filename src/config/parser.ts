import type { z } from 'zod';
import { unknownNames } from './names.ts';
import { placeholdersIn } from './placeholders.ts';
import { brokenRules } from './rules.ts';
import { expectedBut } from './sentences.ts';
import type { Variable } from './values.ts';
import { type Config, VARIABLES } from './variables.ts';

/** Everything that is wrong with the configuration, with a sentence for each mistake. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the configuration from environment variables; an empty one counts as not set.
 *
 * @param readFile returns the text of the file that a `NAME_FILE` names
 * @throws ConfigError with every mistake at once; none shows a secret
 */
export function parseConfig(env: Environment, readFile: (path: string) => string): Config {
  const problems = unknownNames(env);
  const values: Record<string, unknown> = {};
  const placeholders: string[] = [];
  // Everything is read whatever the mode, so that every mistake is reported at once.
  for (const [key, variable] of Object.entries<Variable>(VARIABLES)) {
    const found = findText(variable, env, readFile);
    problems.push(...found.problems);
    if (found.text === undefined) {
      if (found.problems.length === 0) values[key] = variable.absent;
      continue;
    }
    placeholders.push(...placeholdersIn(variable, found.text));
    const result = variable.schema.safeParse(found.text, { error: () => 'expected another value' });
    if (result.success) values[key] = result.data;
    else problems.push(misfit(variable, found.text, result.error));
  }
  // Sound: every key is one of the table, and its value came out of the schema of its row.
  const config = values as Partial<Config>;
  problems.push(...brokenRules(config, (key) => isSet(VARIABLES[key], env)));
  if (config.upstreamMode === 'live') problems.push(...placeholders);
  if (problems.length > 0) throw new ConfigError(problems);
  // Sound: a key without its value would have added a sentence to the problems.
  return config as Config;
}

function isSet({ name, secret }: Variable, env: Environment): boolean {
  return Boolean(env[name] || (secret && env[`${name}_FILE`]));
}

/** The text of a variable, from the environment, a file, or its default. */
function findText(
  { name, expected, secret, default: fallback }: Variable,
  env: Environment,
  readFile: (path: string) => string,
): { text: string | undefined; problems: string[] } {
  const path = secret && env[`${name}_FILE`];
  if (!path) return { text: env[name] || fallback, problems: [] };
  const problems = env[name] ? [expectedBut(name, `either it or ${name}_FILE`, 'both')] : [];
  try {
    return { text: readFile(path).trim(), problems };
  } catch {
    // The path is not shown, because it can be the secret itself by mistake.
    problems.push(expectedBut(`${name}_FILE`, `a readable file with ${expected}`, 'a path that cannot be read'));
    return { text: undefined, problems };
  }
}

/**
 * The sentence about a wrong value. It shows the value only if that is short and cannot be a secret. Otherwise it names the
 * path of each mistake in the value, and what is expected there.
 */
function misfit({ name, expected, secret, isAddress, isLong }: Variable, text: string, { issues }: z.ZodError): string {
  if (!secret && !isAddress && !isLong) return expectedBut(name, expected, JSON.stringify(text));
  const mistakes = issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return expectedBut(name, expected, `a value that does not fit (${mistakes.join('; ')})`);
}
