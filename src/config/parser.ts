import leven from 'leven';
import type { z } from 'zod';
import { readJson } from '../runtime/json.ts';
import { looksLikeWord } from './json-values.ts';
import { mismatch, type Table, type Values, type Variable } from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Every mistake in the configuration, each with a sentence. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export interface RuleInput<Rows extends Table> {
  /** The values that could be read. */
  readonly values: Partial<Values<Rows>>;
  /** Is the variable in the environment, even with a wrong value? */
  isSet(key: keyof Rows): boolean;
  /** Adds a sentence if a rule is broken, unless it was added before. */
  refuse(isBroken: boolean, key: keyof Rows, expected: string, got: string): void;
  /** The placeholders of the documentation that the operator has left. `own` says what is expected instead. */
  readonly placeholders: readonly { readonly key: keyof Rows; readonly own: string; readonly isForTrial: boolean }[];
}

/** Kubernetes sets `ADMIN_PORT=tcp://10.0.0.1:80` beside a service named `admin`. That counts as not set. */
const SERVICE_LINK = /^(tcp|udp|sctp):/;

/** Reads the environment, where empty means not set. @throws ConfigError with every mistake at once and no secret */
export function readVariables<Rows extends Table>(
  env: Environment,
  readFile: (path: string) => string,
  table: Rows,
  rules: (input: RuleInput<Rows>) => void,
): Values<Rows> {
  const problems = unknownNames(env, table);
  const placeholders: RuleInput<Rows>['placeholders'][number][] = [];
  const given = new Set<keyof Rows>();
  const read: Record<string, unknown> = {};
  // Everything is read whatever the mode, so that every mistake is reported at once.
  for (const [key, variable] of Object.entries(table)) {
    const { name, expected, secret, isPath, schema } = variable;
    const own = name.endsWith('_PORT') && SERVICE_LINK.test(env[name] ?? '') ? undefined : env[name];
    const file = isPath ? name : `${name}_FILE`;
    const path = (isPath || secret) && env[file];
    let text = own || variable.default;
    if (own || path) given.add(key);
    if (path) {
      if (own && !isPath) problems.push(mismatch(name, `either it or ${file}`, 'both'));
      try {
        text = isPath ? readFile(path) : readFile(path).trim();
      } catch {
        // The path is not shown, because it can be the secret itself by mistake.
        const got = QUOTED.test(path) ? 'a path in quotes' : 'a path that cannot be read';
        problems.push(mismatch(file, `a readable file with ${expected}`, got));
        continue;
      }
    }
    if (text === undefined) {
      read[key] = variable.absent;
      continue;
    }
    const { data, error } = schema.safeParse(text, { error: () => 'expected another value' });
    if (isPath) {
      read[key] = data;
      for (const { message } of error?.issues ?? []) problems.push(`${name}: ${message}`);
      continue;
    }
    if (QUOTED.test(text)) {
      problems.push(mismatch(name, 'a value without quotes around it', 'one that an env file has left in quotes'));
      continue;
    }
    problems.push(...slipsIn(name, text));
    for (const placeholder of placeholdersIn(variable, text)) placeholders.push({ key, ...placeholder });
    read[key] = data;
    if (error) problems.push(mismatch(name, expected, mistakeIn(variable, text, error)));
  }
  // Safe: every key is the table's, and its value comes from the schema of its row.
  const values = read as Partial<Values<Rows>>;
  const rows: { readonly [Key in keyof Rows]: Variable } = table;
  const refuse: RuleInput<Rows>['refuse'] = (isBroken, key, expected, got) => {
    const sentence = mismatch(rows[key].name, expected, got);
    if (isBroken && !problems.includes(sentence)) problems.push(sentence);
  };
  rules({ values, isSet: (key) => given.has(key), refuse, placeholders });
  if (problems.length > 0) throw new ConfigError(problems);
  // Safe: a key without its value would have added a sentence to the problems.
  return values as Values<Rows>;
}

/** The value if it is short and cannot be a secret. Otherwise each mistake in it that `expected` does not name yet. */
function mistakeIn({ secret, isExplained, expected }: Variable, text: string, { issues }: z.ZodError): string {
  if (!secret && !isExplained) return JSON.stringify(text);
  const mistakes = issues
    .map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message))
    .filter((mistake) => mistake !== `expected ${expected}`);
  return mistakes.length > 0 ? `a wrong value (${mistakes.join('; ')})` : 'a wrong value';
}

/** Secrets that the documentation shows for a try on one machine. */
const FOR_TRIAL =
  /^((sk|key)_sandbox_(glb|na|eu)|a-secret-(to-try-it-out|of-orders)|only-for-the-tests-of-your-services)$/;

/** What is expected in place of each placeholder of the documentation. The placeholder itself is left out. */
function placeholdersIn({ secret }: Variable, text: string) {
  return textsIn(text).flatMap(([path, inner]) => {
    const isForTrial = secret === true && FOR_TRIAL.test(inner);
    const isSecret = secret && (isForTrial || /^change[-_ ]?me/i.test(inner) || /^<.*>$/s.test(inner));
    // No host under `.example` will ever exist (RFC 2606, section 2).
    const isAddress = URL.canParse(inner) && /(^|\.)example\.?$/.test(new URL(inner).hostname);
    if (!isSecret && !isAddress) return [];
    const kind = isSecret ? 'a secret' : 'an address';
    return [{ own: path === '' ? `${kind} of your own` : `a value of your own at ${path}`, isForTrial }];
  });
}

/** A text in quotes of any kind: Docker keeps the quotes of an env file, and text editors write curly quotes. */
const QUOTED = /^(["'`]).*\1$|^[“”„‘’‚«].*[“”‘’»]$/s;

/** A sentence, without any possible secret, for each repeated key of an object, and for each text in quotes. */
function slipsIn(name: string, text: string): string[] {
  const repeated = jsonIn(text)?.repeatedKeys.map((key) => (looksLikeWord(key) ? `"${key}" twice` : 'one twice')) ?? [];
  const quoted = textsIn(text).filter(([, inner]) => QUOTED.test(inner));
  return [
    ...repeated.map((got) => mismatch(name, 'each key once in its object', got)),
    ...quoted.map(([path]) => mismatch(name, `no quotes within the text at ${path}`, 'quotes around it')),
  ];
}

/** The texts in a value: those of JSON with their paths, such as `0.secret`; else those between commas; none in broken JSON. */
function textsIn(text: string): (readonly [path: string, text: string])[] {
  const within = (value: unknown, path: readonly string[]): ReturnType<typeof textsIn> => {
    if (typeof value === 'string') return [[path.join('.'), value]];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      within(inner, [...path, Array.isArray(value) || looksLikeWord(key) ? key : '(unknown key)']),
    );
  };
  const parts = text.split(',').map((part) => part.trim());
  const isBroken = /^[[{]/.test(text);
  return within(jsonIn(text)?.json ?? (isBroken ? [] : parts.length > 1 ? parts : text), []);
}

function jsonIn(text: string): ReturnType<typeof readJson> | undefined {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}

const namesOf = (table: Table) =>
  Object.values(table).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : name));

/** Variables of the last two releases that are gone, each with advice. Other programs have such names too: the start goes on. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  ['OTEL_TRACES_SAMPLER', 'the router decides, and OTEL_TRACES_SAMPLER_ARG is the share of all other traces'],
  ['SANDBOX_HOST', 'the sandbox listens at HOST'],
  ['MAX_ANSWER_BYTES', 'a response may have 8388608 bytes'],
]);

/** A sentence for each unknown name that resembles a name of the table, unless that one is set: then it is another program's. */
function unknownNames(env: Environment, table: Table): string[] {
  const known = namesOf(table);
  const set = known.filter((name) => env[name]).map((name) => name.replace(/_FILE$/, ''));
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name)) return [];
    const upper = name.toUpperCase();
    // Autotools and Nix set `host` and `port`, so the case of a name matters if the known name has one word.
    const near = known.find((candidate) => isNear(candidate.includes('_') ? upper : name, candidate));
    return near && !set.includes(near.replace(/_FILE$/, ''))
      ? [`${name}: there is no such variable. Did you mean ${near}?`]
      : [];
  });
}

/** The variables that are set without effect, each with the advice for one that is gone. `unused` are keys of the table. */
export function unusedNames(env: Environment, table: Table, unused: readonly string[] = []): string[] {
  const idle = unused.flatMap((key) => table[key]?.name ?? []).filter((name) => env[name]);
  const gone = [...REMOVED].flatMap(([name, advice]) => (env[name] ? `${name} (${advice})` : []));
  return [...idle, ...gone];
}

/**
 * Is this a likely typo of a known name: swapped letters, at most one wrong letter per eight (never more than two), a missing
 * unit, or `_FILE` after a name that is no secret? A name of one word counts only with swapped letters: POST and PORTS resemble
 * PORT by chance.
 */
function isNear(name: string, known: string): boolean {
  const distance = leven(name, known, { maxDistance: 3 });
  const lettersOf = (text: string) => [...text].sort().join('');
  if (distance <= 2 && lettersOf(name) === lettersOf(known)) return true;
  const isVariant = name === `${known}_FILE` || `${name}_MS` === known;
  return known.includes('_') && (isVariant || distance <= Math.min(known.length / 8, 2));
}
