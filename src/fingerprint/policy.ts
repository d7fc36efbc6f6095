// biome-ignore-all lint/suspicious/noThenProperty: the format of a policy has this key, and no rule is awaited.

import { createHash } from 'node:crypto';
import { closestMatch } from 'leven';
import { z } from 'zod';
import { isText, TEXT_EXPECTATION } from '../errors.ts';
import { readJson } from '../runtime/json.ts';
import type { DeviceClientType, DeviceRiskDecision, Signal } from '../schema.generated.ts';
import { CLIENT_TYPES } from './contract.ts';
import defaultPolicy from './default-policy.json' with { type: 'json' };
import { isAtLeast, LEVELS, SIGNAL_CATALOGUE } from './signal-catalogue.ts';

/** A risk policy: an ordered table of rules. The first rule that matches decides. schema/README.md explains the table. */

export interface RiskPolicy {
  /** The first 12 hexadecimal digits of the SHA-256 of its content. The order of keys and the spaces in the file do not matter. */
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly otherwise: DeviceRiskDecision;
}

export interface Rule {
  readonly when: Condition;
  /** The number of different signals that must count: `atLeast`; by default 1, or 0 if no key of `when` selects signals. */
  readonly needs: number;
  readonly isShadow: boolean;
  readonly decision: DeviceRiskDecision;
}

/** The input of a policy: a device as the service judged it, and the business event. */
export interface PolicyInput {
  readonly clientType: DeviceClientType;
  readonly signals: readonly PolicySignal[];
  /** Undefined matches no rule with an `eventType`. */
  readonly eventType: string | undefined;
}

export type PolicySignal = Pick<Signal, 'name' | 'code' | 'level' | 'confidence' | 'effect'>;

/** The `rule` of a decision without a matching rule. No rule can have this id. */
const OTHERWISE = 'otherwise';

/** Several times the size of the largest policy. Each wrong item of a longer list would have a message of its own. */
const MAX_CHARACTERS = 262_144;
const MAX_RULES = 64;
const MAX_SHOWN_CHARACTERS = 40;
const CODES = SIGNAL_CATALOGUE.map(({ code }) => code);

// A schema's message says what is expected, or for an unknown key lists the known keys. `messagesFor` makes sentences of messages.
// A policy's id is a hash of the output. So equal policies need equal output: keys in a fixed order, sorted lists, no defaults.

const oneOf = <const Word extends string>(...words: Word[]) =>
  z.enum(words, `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);

const setOf = <Entry extends z.ZodType>(expected: string, entry: Entry) =>
  z
    .array(entry, expected)
    .min(1)
    .transform((list) => [...new Set(list)].sort());

const oneOrMany = <Entry extends z.ZodType>(expected: string, entry: Entry) =>
  z.preprocess((value) => (Array.isArray(value) ? value : [value]), setOf(expected, entry));

const objectOf = <Shape extends z.ZodRawShape>(expected: string, shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : expected),
  });

const action = oneOf('ALLOW', 'CHALLENGE', 'DENY');
const codes = setOf('a list of signals', z.enum(CODES, 'the code of a documented signal'));
const eventType = z.string(TEXT_EXPECTATION).refine(isText);

const CONDITION = 'an object with at least one condition';
const condition = objectOf(CONDITION, {
  anyOf: codes.optional(),
  noneOf: codes.optional(),
  effect: oneOf('RISK', 'DENY', 'ALLOW').optional(),
  minLevel: oneOf(...LEVELS).optional(),
  minConfidence: z.number('a number from 0 to 1').min(0).max(1).optional(),
  atLeast: z.int(`a whole number from 1 to ${CODES.length}`).min(1).max(CODES.length).optional(),
  eventType: oneOrMany('a list of texts', eventType).optional(),
  clientType: oneOrMany('a list of client types', oneOf(...Object.values(CLIENT_TYPES))).optional(),
});

const rule = objectOf('a rule, which is an object', {
  // A label of metrics, so it is short, and safe in every query language.
  id: z
    .string(`1 to 48 of a-z, 0-9, - and _, and not ${OTHERWISE}`)
    .regex(/^[a-z0-9_-]{1,48}$/)
    .refine((id) => id !== OTHERWISE),
  // A rule without a condition would match every device, like `otherwise`.
  when: condition.refine((when) => Object.keys(when).length > 0, {
    error: CONDITION,
    when: ({ issues }) => issues.length === 0,
  }),
  then: action,
  shadow: z
    .boolean('true or false')
    .transform((shadow) => shadow || undefined)
    .optional(),
});

/** The conditions of a rule, all of which must hold. `anyOf`, `effect`, `minLevel` and `minConfidence` say which signals count. */
type Condition = z.output<typeof condition>;

const policySchema = objectOf('an object with rules and otherwise', {
  rules: z.array(rule, `a list of 1 to ${MAX_RULES} rules`).min(1).max(MAX_RULES),
  otherwise: action,
});

const anyIds = z.object({ rules: z.array(z.object({ id: z.string() }).catch({ id: '' })) });

/** Reads a policy from the JSON of its file. A policy is no secret, so the issues, which are sentences, quote it. */
export const policyFile = z
  .string()
  .max(MAX_CHARACTERS, {
    error: ({ input }) => `expected at most ${MAX_CHARACTERS} characters, but got ${String(input).length}.`,
  })
  .transform((text, context) => {
    try {
      return readJson(text);
    } catch (error) {
      // The rest of the message quotes the text, which is a secret if the path leads to a file of secrets.
      const [where = ''] = / at position \d+( \(line \d+ column \d+\))?/.exec(String(error)) ?? [];
      context.addIssue({ code: 'custom', message: `expected JSON, but got a text that is not JSON${where}.` });
      return z.NEVER;
    }
  })
  .transform(({ json, repeatedKeys }, context) => {
    const { data, error } = policySchema.safeParse(json, { reportInput: true });
    const ids = anyIds.safeParse(json).data?.rules.map(({ id }) => id) ?? [];
    const mistakes = error?.issues.flatMap((issue) => messagesFor(issue, ids)) ?? [];
    const repeated = repeatedKeys.map((key) => sentence('', 'each key once in its object', key));
    // Each sentence once, because one value can fail several checks.
    for (const message of new Set([...repeated, ...mistakes, ...repeatedIds(ids)]))
      context.addIssue({ code: 'custom', message });
    return data ?? z.NEVER;
  })
  .transform(({ rules, otherwise }): RiskPolicy => {
    const id = createHash('sha256').update(JSON.stringify({ rules, otherwise })).digest('hex').slice(0, 12);
    return {
      id,
      rules: rules.map(({ id: rule, when, then, shadow }) => {
        const { anyOf, effect, minLevel, minConfidence, atLeast } = when;
        const selectsSignals = [anyOf, effect, minLevel, minConfidence].some((key) => key !== undefined);
        const decision = { action: then, rule, policy: id };
        return { when, needs: atLeast ?? Number(selectsSignals), isShadow: shadow === true, decision };
      }),
      otherwise: { action: otherwise, rule: OTHERWISE, policy: id },
    };
  });

/** The built-in policy. Only blacklists deny, because a hobbyist's phone can trigger several HIGH signals. */
export const DEFAULT_POLICY = policyFile.parse(JSON.stringify(defaultPolicy));

/** The decision of the first matching rule that is no shadow. `onShadow` gets the decisions of matching shadow rules before it. */
export function decide(
  policy: RiskPolicy,
  input: PolicyInput,
  onShadow?: (decision: DeviceRiskDecision) => void,
): DeviceRiskDecision {
  for (const rule of policy.rules) {
    if (!matches(rule, input)) continue;
    if (!rule.isShadow) return rule.decision;
    onShadow?.(rule.decision);
  }
  return policy.otherwise;
}

export function matches({ when, needs }: Rule, { clientType, eventType, signals }: PolicyInput): boolean {
  if (when.clientType && !when.clientType.includes(clientType)) return false;
  if (when.eventType && (eventType === undefined || !when.eventType.includes(eventType))) return false;
  if (signals.some(({ code }) => when.noneOf?.some((banned) => banned === code))) return false;
  const counted = signals.filter((signal) => counts(when, signal));
  // Duplicate signals, which the document does not forbid, count once.
  return counted.length >= needs && new Set(counted.map(({ name }) => name)).size >= needs;
}

/** Does a rule with this condition count a signal? A signal that is newer than the catalogue has neither a code nor an effect. */
export function counts(when: Condition, { code, effect, level, confidence }: PolicySignal): boolean {
  if (when.anyOf?.every((wanted) => wanted !== code)) return false;
  if (when.effect && when.effect !== effect) return false;
  if (when.minLevel && !isAtLeast(level, when.minLevel)) return false;
  return when.minConfidence === undefined || confidence >= when.minConfidence;
}

function messagesFor(issue: z.core.$ZodIssue, ids: readonly string[]): string[] {
  const { message, input } = issue;
  const where = locationOf(issue.path, ids);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => sentence(where, `no key but ${message}`, key, message.split(', ')));
  return [sentence(where, message, input, issue.code === 'invalid_value' ? issue.values.map(String) : [])];
}

/** The place of a mistake: the key, and the rule by id, or by position from 1 if the id is invalid or repeats an earlier id. */
function locationOf([first, at, ...others]: readonly PropertyKey[], ids: readonly string[]): string {
  if (typeof at !== 'number') return first === undefined ? '' : `${String(first)}: `;
  const key = others.filter((part) => typeof part === 'string').join('.');
  const id = key !== 'id' && ids.indexOf(ids[at] ?? '') === at && ids[at];
  return `rule ${id ? show(id) : at + 1}: ${key && `${key}: `}`;
}

function sentence(where: string, expected: string, value: unknown, known: readonly string[] = []) {
  const near = nearest(value, known);
  return `${where}expected ${expected}, but got ${show(value)}.${near === undefined ? '' : ` Did you mean ${near}?`}`;
}

function nearest(value: unknown, known: readonly string[]): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_SHOWN_CHARACTERS) return undefined;
  const options = { maxDistance: Math.floor(value.length / 4) };
  return closestMatch(value, known, options) ?? closestMatch(value.toUpperCase(), known, options);
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}

function repeatedIds(ids: readonly string[]): string[] {
  const sentenceOf = (id: string, at: number) => sentence(`rule ${at + 1}: id: `, 'an id that no other rule has', id);
  return ids.flatMap((id, at) => (id !== '' && ids.indexOf(id) < at ? sentenceOf(id, at) : []));
}
