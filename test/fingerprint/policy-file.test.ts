import { expect, test } from 'vitest';
import { policyFile } from '../../src/fingerprint/policy.ts';
import signals from '../fixtures/signals.json' with { type: 'json' };

/** What is refused in a policy's file, and in which words. */

const problemsOf = (text: string) => policyFile.safeParse(text).error?.issues.map(({ message }) => message) ?? [];
const problems = (json: unknown) => problemsOf(JSON.stringify(json));
const rule = (changes: object) => ({ ...JSON.parse('{"id":"a","when":{"effect":"DENY"},"then":"DENY"}'), ...changes });
const withRule = (changes: object) => problems({ rules: [rule(changes)], otherwise: 'ALLOW' });
const CODE = 'expected the code of a documented signal';
const ID = 'expected 1 to 48 of a-z, 0-9, - and _, and not otherwise';
const EVENT = 'rule "a": when.eventType: expected a Unicode text of at most 16384 bytes in UTF-8';
const KEYS = 'anyOf, noneOf, effect, minLevel, minConfidence, atLeast, eventType, clientType';

test('a rule with every key is accepted', () => {
  const when = {
    ...{ anyOf: ['EMULATOR'], noneOf: ['BLACKLIST_IP'], effect: 'RISK', minLevel: 'LOW', minConfidence: 0, atLeast: 1 },
    ...{ eventType: ['login', '', 'sign\nup'], clientType: 'WEB_H5' },
  };
  expect(withRule({ when, shadow: true })).toEqual([]);
});

test.each<[object, string]>([
  [{ id: 'Upper' }, `rule 1: id: ${ID}, but got "Upper".`],
  [{ id: 'otherwise' }, `rule 1: id: ${ID}, but got "otherwise".`],
  [{ id: 'a'.repeat(49) }, `rule 1: id: ${ID}, but got "${'a'.repeat(39)}….`],
  [{ id: undefined }, `rule 1: id: ${ID}, but got nothing.`],
  [{ when: {} }, 'rule "a": when: expected an object with at least one condition, but got {}.'],
  [
    { when: { anyof: ['EMULATOR'] } },
    `rule "a": when: expected no key but ${KEYS}, but got "anyof". Did you mean anyOf?`,
  ],
  [{ when: { anyOf: ['EMULATER'] } }, `rule "a": when.anyOf: ${CODE}, but got "EMULATER". Did you mean EMULATOR?`],
  [{ when: { noneOf: ['VPN_ENABLED', 7] } }, `rule "a": when.noneOf: ${CODE}, but got 7.`],
  [{ when: { anyOf: [] } }, 'rule "a": when.anyOf: expected a list of signals, but got a list of 0.'],
  [{ when: { anyOf: 'EMULATOR' } }, 'rule "a": when.anyOf: expected a list of signals, but got "EMULATOR".'],
  [{ when: { effect: 'BLOCK' } }, 'rule "a": when.effect: expected RISK, DENY or ALLOW, but got "BLOCK".'],
  [
    { when: { minLevel: 'high' } },
    'rule "a": when.minLevel: expected LOW, MEDIUM or HIGH, but got "high". Did you mean HIGH?',
  ],
  [{ when: { minConfidence: 80 } }, 'rule "a": when.minConfidence: expected a number from 0 to 1, but got 80.'],
  [{ when: { atLeast: 0 } }, `rule "a": when.atLeast: expected a whole number from 1 to ${signals.length}, but got 0.`],
  [{ when: { eventType: 7 } }, `${EVENT}, but got 7.`],
  [{ when: { eventType: ['a', '\ud800'] } }, `${EVENT}, but got "\\ud800".`],
  [{ when: { eventType: 'x'.repeat(16_385) } }, `${EVENT}, but got "${'x'.repeat(39)}….`],
  [
    { when: { clientType: 'iOS' } },
    'rule "a": when.clientType: expected ANDROID, IOS, WEB_H5 or OTHER, but got "iOS". Did you mean IOS?',
  ],
  [{ when: { clientType: [] } }, 'rule "a": when.clientType: expected a list of client types, but got a list of 0.'],
  // biome-ignore lint/suspicious/noThenProperty: the format of a policy has this key, and nobody awaits a rule.
  [{ then: 'BLOCK' }, 'rule "a": then: expected ALLOW, CHALLENGE or DENY, but got "BLOCK".'],
  [{ shadow: 'yes' }, 'rule "a": shadow: expected true or false, but got "yes".'],
  [{ note: 'why' }, 'rule "a": expected no key but id, when, then, shadow, but got "note".'],
])('%j is refused', (changes, sentence) => {
  expect(withRule(changes)).toEqual([sentence]);
});

test.each<[unknown, string[]]>([
  [[], ['expected an object with rules and otherwise, but got a list of 0.']],
  [null, ['expected an object with rules and otherwise, but got null.']],
  [{ otherwise: 'ALLOW' }, ['rules: expected a list of 1 to 64 rules, but got nothing.']],
  [{ rules: [rule({})] }, ['otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.']],
  [{ rules: [], otherwise: 'ALLOW' }, ['rules: expected a list of 1 to 64 rules, but got a list of 0.']],
  [
    { rules: Array.from({ length: 65 }, (_, at) => rule({ id: `r${at}` })), otherwise: 'ALLOW' },
    ['rules: expected a list of 1 to 64 rules, but got a list of 65.'],
  ],
  [{ rules: ['a'], otherwise: 'ALLOW' }, ['rule 1: expected a rule, which is an object, but got "a".']],
])('%j is refused as a policy', (json, sentences) => {
  expect(problems(json)).toEqual(sentences);
});

test('a policy with several mistakes is refused with each of them', () => {
  const wrong = { when: { effect: 'NO', minLevel: 1 }, note: '' };
  const rules = [rule({}), rule(wrong), rule({ id: 'b', shadow: 1 }), rule({ id: 7, shadow: 1 })];
  expect(problems({ rules, otherwise: 'DROP', version: 1 }).map((text) => text.split(/:? ?expected/)[0])).toEqual([
    // The second rule with this id, so that its id alone would name the first one.
    'rule 2: when.effect',
    'rule 2: when.minLevel',
    'rule 2',
    'rule "b": shadow',
    'rule 4: id',
    'rule 4: shadow',
    'otherwise',
    '',
    'rule 2: id',
  ]);
});

test('a key that an object has twice is refused, because only the last one would count', () => {
  const text = '{"rules":[{"then":"DENY","id":"a","when":{"effect":"DENY"},"then":"ALLOW"}],"otherwise":"ALLOW"}';
  expect(problemsOf(text)).toEqual(['expected each key once in its object, but got "then".']);
});

test('the largest policy is accepted, and a file beyond is refused at once', () => {
  const codes = signals.map(({ signal }) => signal);
  const when = { anyOf: codes, noneOf: codes, eventType: Array.from({ length: 10 }, (_, at) => `${at}`.repeat(100)) };
  const rules = Array.from({ length: 64 }, (_, at) => rule({ id: `${at}`.padStart(48, '0'), when }));
  expect(problems({ rules, otherwise: 'ALLOW' })).toEqual([]);
  const many = JSON.stringify({ rules: Array.from({ length: 200_000 }, (_, at) => ({ id: `r${at}` })) });
  const start = performance.now();
  expect(problemsOf(many)).toEqual([`expected at most 262144 characters, but got ${many.length}.`]);
  expect(performance.now() - start).toBeLessThan(1_000);
});

test.each([
  ['{"rules": [', ''],
  ['', ''],
  ['{\n  "rules": [] "otherwise"\n}', ' at position 16 (line 2 column 15)'],
  ['secret-canary', ''],
])('a text that is not JSON is refused without quoting it: %j', (text, where) => {
  expect(problemsOf(text)).toEqual([`expected JSON, but got a text that is not JSON${where}.`]);
});
