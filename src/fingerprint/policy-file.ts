import { OTHERWISE, type PolicyDefinition, type RiskPolicy } from './policy.ts';
import { compilePolicy } from './policy-compiler.ts';
import { SIGNAL_CATALOGUE } from './signals.ts';

/** Reads a policy from its file. A policy is no secret, so the messages show what was found. */

/** Everything that is wrong with a policy, with a sentence for each mistake. */
export class PolicyError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'PolicyError';
    this.problems = problems;
  }
}

/**
 * The policy in a file.
 *
 * @param readFile returns the text of the file
 * @throws PolicyError with every mistake at once
 */
export function loadPolicy(path: string, readFile: (path: string) => string): RiskPolicy {
  let text: string;
  try {
    text = readFile(path);
  } catch {
    throw new PolicyError(['expected a readable file, but got a path that cannot be read.']);
  }
  return parsePolicy(text);
}

/**
 * The policy in a text of JSON.
 *
 * @throws PolicyError with every mistake at once
 */
export function parsePolicy(text: string): RiskPolicy {
  if (text.length > MAX_CHARACTERS) {
    throw new PolicyError([`expected at most ${MAX_CHARACTERS} characters, but got ${text.length}.`]);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    // The rest of the message quotes the text, which is a secret if the path is that of another file.
    const [where = ''] = / at position \d+( \(line \d+ column \d+\))?/.exec(String(error)) ?? [];
    throw new PolicyError([`expected JSON, but got a text that is not JSON${where}.`]);
  }
  const problems = [...repeatedKeys(text), ...checkPolicy(json, ''), ...repeatedIds(json)];
  if (problems.length > 0) throw new PolicyError(problems);
  // Sound: every key was checked against the type of the same name.
  return compilePolicy(json as PolicyDefinition);
}

/** The sentences about what is wrong with a value at this path. */
type Check = (value: unknown, path: string) => string[];

/** Several times what the largest policy needs. A file is checked between requests, so it must not take long. */
const MAX_CHARACTERS = 262_144;
const MAX_RULES = 64;
const MAX_SHOWN_CHARACTERS = 40;
const CODES: ReadonlySet<unknown> = new Set(SIGNAL_CATALOGUE.map(({ code }) => code));

const mistake = (path: string, expected: string, value: unknown) =>
  `${path === '' ? '' : `${path}: `}expected ${expected}, but got ${show(value)}.`;

const that =
  (expected: string, fits: (value: unknown) => boolean): Check =>
  (value, path) =>
    fits(value) ? [] : [mistake(path, expected, value)];

const oneOf = (...words: string[]) =>
  that(`${words.slice(0, -1).join(', ')} or ${words.at(-1)}`, (value) => words.some((word) => word === value));

const listOf =
  (expected: string, entry: Check, max = Number.POSITIVE_INFINITY): Check =>
  (value, path) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > max) return [mistake(path, expected, value)];
    return value.flatMap((one, at) => entry(one, `${path}.${at}`));
  };

const oneOrMany =
  (entry: Check, many: Check): Check =>
  (value, path) =>
    (Array.isArray(value) ? many : entry)(value, path);

/** An object with no other keys than these. A key that may be absent ends in `?`. */
const objectOf =
  (expected: string, keys: Readonly<Record<string, Check>>): Check =>
  (value, path) => {
    if (!isObject(value) || Object.keys(value).length === 0) return [mistake(path, expected, value)];
    const pathOf = (key: string) => (path === '' ? key : `${path}.${key}`);
    const names = Object.keys(keys).map((key) => key.replace('?', ''));
    const unknown = Object.keys(value).filter((key) => !names.includes(key));
    return [
      ...unknown.map((key) => mistake(path, `no key but ${names.join(', ')}`, key)),
      ...Object.entries(keys).flatMap(([key, check]) => {
        const name = key.replace('?', '');
        return Object.hasOwn(value, name) || name === key ? check(value[name], pathOf(name)) : [];
      }),
    ];
  };

const action = oneOf('ALLOW', 'CHALLENGE', 'DENY');
const codes = listOf(
  'a list of signals',
  that('the code of a documented signal', (value) => CODES.has(value)),
);
const eventType = that(
  'a text of 1 to 100 characters',
  (value) => typeof value === 'string' && /^.{1,100}$/su.test(value),
);
const clientType = oneOf('ANDROID', 'IOS', 'WEB_H5');

const rule = objectOf('a rule, which is an object', {
  // A label of metrics, so it is short, and safe in every query language.
  id: that(
    `1 to 48 of a-z, 0-9, - and _, and not ${OTHERWISE}`,
    (value) => typeof value === 'string' && /^[a-z0-9_-]{1,48}$/.test(value) && value !== OTHERWISE,
  ),
  // Without a condition it would decide about everybody, which is what `otherwise` is for.
  when: objectOf('an object with at least one condition', {
    'anyOf?': codes,
    'noneOf?': codes,
    'effect?': oneOf('RISK', 'DENY', 'ALLOW'),
    'minLevel?': oneOf('LOW', 'MEDIUM', 'HIGH'),
    'minConfidence?': that('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1),
    'atLeast?': that(
      `a whole number from 1 to ${CODES.size}`,
      (value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= CODES.size,
    ),
    'eventType?': oneOrMany(eventType, listOf('a list of texts', eventType)),
    'clientType?': oneOrMany(clientType, listOf('a list of client types', clientType)),
  }),
  // biome-ignore lint/suspicious/noThenProperty: the format has this key, and nobody awaits a table of checks.
  then: action,
  'shadow?': that('true or false', (value) => typeof value === 'boolean'),
});

const checkPolicy = objectOf('an object with rules and otherwise', {
  rules: listOf(`a list of 1 to ${MAX_RULES} rules`, rule, MAX_RULES),
  otherwise: action,
});

/** What a valid text of JSON is read by here: a string with the colon that makes it a key, or the bounds of an object. */
const STRING_OR_BOUND = /("(?:[^"\\]|\\.)*")\s*(:)?|[{}]/g;

/**
 * Keys that an object of a valid text has twice. JSON.parse takes the last one, and the conditions or the rules of the first one
 * would be gone without a word.
 */
function repeatedKeys(text: string): string[] {
  const problems: string[] = [];
  const open: Set<unknown>[] = [];
  for (const [token, string = '', colon] of text.matchAll(STRING_OR_BOUND)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon) {
      const key: unknown = JSON.parse(string);
      const keys = open.at(-1);
      if (keys?.has(key)) problems.push(mistake('', 'each key once in its object', key));
      keys?.add(key);
    }
  }
  return problems;
}

/** Checked apart from the rest, so that it is reported beside any other mistake. */
function repeatedIds(json: unknown): string[] {
  const rules: unknown[] = isObject(json) && Array.isArray(json['rules']) ? json['rules'] : [];
  const ids = rules.map((one) => (isObject(one) && typeof one['id'] === 'string' ? one['id'] : undefined));
  return ids.flatMap((id, at) =>
    id !== undefined && ids.indexOf(id) < at ? [mistake(`rules.${at}.id`, 'an id that no other rule has', id)] : [],
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A short text that says what a value is. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (isObject(value)) return Object.keys(value).length === 0 ? 'an empty object' : 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
