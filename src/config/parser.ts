import leven, { closestMatch } from 'leven';
import type { z } from 'zod';
import { isRemoved, withoutRemovedKeys } from './removed.ts';
import { brokenRules } from './rules.ts';
import { looksLikeWord } from './structures.ts';
import { expectedBut } from './values.ts';
import { type Config, VARIABLES, type Variable } from './variables.ts';

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
  const placeholders: string[] = [];
  const values: Record<string, unknown> = {};
  // Everything is read whatever the mode, so that every mistake is reported at once.
  for (const [key, variable] of Object.entries<Variable>(VARIABLES)) {
    const { name, expected, secret, schema } = variable;
    const path = secret && env[`${name}_FILE`];
    let text = env[name] || variable.default;
    if (path) {
      if (env[name]) problems.push(expectedBut(name, `either it or ${name}_FILE`, 'both'));
      try {
        text = readFile(path).trim();
      } catch {
        // The path is not shown, because it can be the secret itself by mistake.
        problems.push(expectedBut(`${name}_FILE`, `a readable file with ${expected}`, 'a path that cannot be read'));
        continue;
      }
    }
    if (text === undefined) {
      values[key] = variable.absent;
      continue;
    }
    text = withoutRemovedKeys(name, text);
    placeholders.push(...placeholdersIn(variable, text));
    const result = schema.safeParse(text, { error: () => 'expected another value' });
    if (result.success) values[key] = result.data;
    else problems.push(expectedBut(name, expected, mistakeIn(variable, text, result.error)));
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

/** The value if it is short and cannot be a secret. Otherwise the path of each mistake in it, and what is expected there. */
function mistakeIn({ secret, isExplained }: Variable, text: string, { issues }: z.ZodError): string {
  if (!secret && !isExplained) return JSON.stringify(text);
  const mistakes = issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return `a value that does not fit (${mistakes.join('; ')})`;
}

/** Placeholders of older versions of the documentation. */
const FORMER = new Set(['pk_1', 'sk_1', 'key_1', '0123456789abcdef0123456789abcdef']);

/** A sentence for each value that the documentation shows in place of the operator's own. None shows the value. */
function placeholdersIn({ name, secret }: Variable, text: string): string[] {
  return textsIn(text).flatMap(([path, inner]) => {
    const isSecret = secret && (/^change[-_ ]?me/i.test(inner) || /^<.*>$/s.test(inner) || FORMER.has(inner));
    // No host under `.example` will ever exist (RFC 2606, section 2).
    const isAddress = URL.canParse(inner) && /(^|\.)example\.?$/.test(new URL(inner).hostname);
    if (!isSecret && !isAddress) return [];
    const kind = isSecret ? 'a secret' : 'an address';
    const own = path === '' ? `${kind} of your own` : `a value of your own at ${path}`;
    return `${name}: expected ${own}, but got the placeholder of the documentation.`;
  });
}

/** Every text within a JSON value, with its path such as `0.secret`. If it is not JSON, the texts between its commas. */
function textsIn(text: string): (readonly [path: string, text: string])[] {
  const within = (value: unknown, path: readonly string[]): ReturnType<typeof textsIn> => {
    if (typeof value === 'string') return [[path.join('.'), value]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      within(inner, [...path, Array.isArray(value) || looksLikeWord(key) ? key : '(unknown key)']),
    );
  };
  try {
    return within(JSON.parse(text), []);
  } catch {
    const parts = text.split(',').map((part) => part.trim());
    return within(parts.length > 1 ? parts : text, []);
  }
}

const KNOWN = Object.values<Variable>(VARIABLES).flatMap(({ name, secret }) =>
  secret ? [name, `${name}_FILE`] : name,
);
/** First words that only our names have. Other software uses these four in an environment as well. */
const OWN_FIRST_WORDS: ReadonlySet<string> = new Set(
  Object.values<Variable>(VARIABLES)
    .flatMap(({ name }) => (name.includes('_') ? firstWordOf(name) : []))
    .filter((word) => !['LOG', 'OTEL', 'ADMIN', 'TRUSTED'].includes(word)),
);

/**
 * A sentence for each unknown name that has the first word of one of ours (`MAX_`), or is nearly one of ours. If one were
 * accepted, a default would stay in use and nobody would notice.
 */
export function unknownNames(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (KNOWN.includes(name) || isRemoved(name) || isOfKubernetes(name, value)) return [];
    const upper = name.toUpperCase();
    // Autotools and Nix set `host` and `port`. A name of one word counts only as it is written.
    const near = KNOWN.find((known) => isNear(known.includes('_') ? upper : name, known));
    if (!near && !(name.includes('_') && OWN_FIRST_WORDS.has(firstWordOf(upper)))) return [];
    const meant = near ?? closestMatch(upper, KNOWN, { maxDistance: Math.floor(name.length / 4) });
    return [
      `${name}: there is no such variable. ${meant ? `Did you mean ${meant}?` : 'Correct the name or remove it.'}`,
    ];
  });
}

function firstWordOf(name: string): string {
  return name.split('_', 1).join();
}

/**
 * Is a name probably a known one that was mistyped? Other words resemble a short name by chance, so a name that resembles
 * a short one, or one of one word, has to have the same letters: PROT counts as PORT, but POST does not, and HOSTS does not
 * count as HOST.
 */
function isNear(name: string, known: string): boolean {
  const distance = leven(name, known, { maxDistance: 3 });
  const lettersOf = (text: string) => [...text].sort().join('');
  if (distance <= 2 && lettersOf(name) === lettersOf(known)) return true;
  return known.length >= 8 && known.includes('_') && distance <= (known.length < 16 ? 1 : 2);
}

/** Kubernetes puts these into every container for each service of the namespace, and a service may be called `captcha`. */
function isOfKubernetes(name: string, value: string): boolean {
  if (/_(SERVICE_(HOST|PORT)(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)$/.test(name)) return true;
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value);
}
