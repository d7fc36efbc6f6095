import { afterAll, expect, test } from 'vitest';
import { DEFAULT_POLICY, policyFile } from '../../src/fingerprint/policy.ts';
import { gainOf, readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';

/** The field `decision`, and how decisions are counted. */

const LOGIN_ONLY = policyFile.parse(`{
  "rules": [
    { "id": "watch", "when": { "minLevel": "LOW" }, "then": "DENY", "shadow": true },
    { "id": "login", "when": { "eventType": "login", "anyOf": ["EMULATOR"] }, "then": "DENY" }
  ],
  "otherwise": "ALLOW"
}`);
const app = await startInSandboxMode();
const loginOnly = await startInSandboxMode({ riskPolicy: LOGIN_ONLY });
afterAll(() => Promise.all([app.stop(), loginOnly.stop()]));

/** How Apollo Server and compiled code answer the same document: it is compiled once it was sent several times. */
async function askBothWays(document: string, variables: Record<string, unknown>, by = app) {
  const answers = [];
  for (let time = 0; time < 5; time += 1) answers.push(await ask(by.graphqlUrl, document, variables));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const [{ data, errors } = { data: undefined, errors: undefined }] = answers;
  expect(errors).toBeUndefined();
  return data;
}

const DECISION = 'decision { action rule policy }';
const BY_TOKEN = `query ($token: String!, $eventType: String) {
  deviceFingerprint(token: $token, eventType: $eventType) { ... on DeviceFingerprint { ${DECISION} } }
}`;
const BY_REFERENCE = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) { ... on DeviceFingerprint { ${DECISION} } }
}`;
const reference = (token: string) => ({ __typename: 'DeviceFingerprint', token });

const COUNTER = 'device_trust_decisions_total';
const seriesOf = ({ action, rule, shadow }: Readonly<Record<string, string>>) =>
  `${action} ${rule}${shadow === 'true' ? ' shadow' : ''}`;

/** What was counted while this ran. */
async function countedDuring(run: () => Promise<unknown>, by = app) {
  const counts: Record<string, number> = {};
  for (const [labels, count] of (await gainOf(by, run)).of(COUNTER))
    counts[seriesOf(labels)] = (counts[seriesOf(labels)] ?? 0) + count;
  return counts;
}

test('the built-in policy decides about a token and about a reference', async () => {
  const token = 'sandbox:web:WHITELIST_IP,VPN_ENABLED';
  const decision = { action: 'DENY', rule: 'listed', policy: DEFAULT_POLICY.id };
  expect(await askBothWays(BY_TOKEN, { token })).toEqual({ deviceFingerprint: { decision } });
  expect(await askBothWays(BY_REFERENCE, { representations: [reference(token)] })).toEqual({
    _entities: [{ decision }],
  });
});

test('the event type of the query is what rules see, and with a reference they see none', async () => {
  const token = 'sandbox:android:EMULATOR';
  const ruleOf = async (eventType?: string) =>
    (await askBothWays(BY_TOKEN, { token, eventType }, loginOnly)).deviceFingerprint.decision.rule;
  expect([await ruleOf('login'), await ruleOf('checkout'), await ruleOf()]).toEqual([
    'login',
    'otherwise',
    'otherwise',
  ]);
  const entity = { ...reference(token), eventType: 'login' };
  const [{ decision }] = (await askBothWays(BY_REFERENCE, { representations: [entity] }, loginOnly))._entities;
  expect(decision.rule).toBe('otherwise');
});

test('the filters of `signals` do not hide a signal from the policy', async () => {
  const document = `query ($token: String!) {
    deviceFingerprint(token: $token) {
      ... on DeviceFingerprint { signals(minConfidence: 1) { name } decision { action } }
    }
  }`;
  expect(await askBothWays(document, { token: 'sandbox:android:EMULATOR' })).toEqual({
    deviceFingerprint: { signals: [], decision: { action: 'CHALLENGE' } },
  });
});

const TWICE = `query ($token: String!) {
    one: deviceFingerprint(token: $token) { ... on DeviceFingerprint { a: decision { rule } b: decision { action } } }
    two: deviceFingerprint(token: $token) { ... on DeviceFingerprint { ${DECISION} } }
  }`;

test('the metric of decisions counts one for each lookup, however often it is selected', async () => {
  const token = 'sandbox:android:EMULATOR';
  expect(await countedDuring(() => ask(app.graphqlUrl, TWICE, { token }))).toEqual({ 'CHALLENGE serious': 1 });
  expect(await countedDuring(() => askBothWays(TWICE, { token }))).toEqual({ 'CHALLENGE serious': 5 });
});

test('the metric of decisions counts equal references once, and different tokens each', async () => {
  const representations = ['sandbox:ios', 'sandbox:ios', 'sandbox:web', 'made-up'].map(reference);
  const asking = () => ask(app.graphqlUrl, BY_REFERENCE, { representations });
  expect(await countedDuring(asking)).toEqual({ 'ALLOW otherwise': 2 });
});

test('the metric of decisions counts a shadow rule beside the one that decides, once for each lookup', async () => {
  const asking = () => ask(loginOnly.graphqlUrl, TWICE, { token: 'sandbox:android:EMULATOR' });
  expect(await countedDuring(asking, loginOnly)).toEqual({ 'DENY watch shadow': 1, 'ALLOW otherwise': 1 });
});

test('the metric of decisions says which kind of client it was about, and which event if the policy names it', async () => {
  const judged = (device: string, eventType: string) =>
    askBothWays(BY_TOKEN, { token: `sandbox:${device}:EMULATOR`, eventType }, loginOnly);
  const grown = await gainOf(loginOnly, async () => {
    await judged('ios', 'login');
    await judged('web', 'made up by a client');
  });
  const decided = grown.of(COUNTER).filter(([{ shadow }]) => shadow === 'false');
  const labels = decided.map(([{ action, client_type, event_type }]) => [action, client_type, event_type].join(' '));
  expect(labels.sort()).toEqual(['ALLOW WEB_H5 other', 'DENY IOS login']);
});

test('the metric of decisions follows rules for an event that is no label', async () => {
  const events = ['', 'check\nout', '\u2028', 'e'.repeat(257)];
  const token = 'sandbox:ios:EMULATOR';
  const rules = events.map((eventType, at) => {
    const when = { eventType, anyOf: ['EMULATOR'] };
    // biome-ignore lint/suspicious/noThenProperty: the format of a policy has this key, and nobody awaits a rule.
    return { id: `event-${at}`, when, then: 'DENY' };
  });
  const riskPolicy = policyFile.parse(JSON.stringify({ rules, otherwise: 'ALLOW' }));
  const byEvent = await untilEnd(startInSandboxMode({ riskPolicy }));
  const grown = await gainOf(byEvent, async () => {
    for (const eventType of [...events, ...events.map((event) => `${event}e`), undefined])
      await askBothWays(BY_TOKEN, { token, eventType }, byEvent);
  });
  const labels = grown.of(COUNTER).map(([{ rule, event_type }, count]) => `${rule} ${event_type} ${count}`);
  expect(labels.sort()).toEqual([...events.map((_, at) => `event-${at} other 5`), 'otherwise other 25']);
});

test('the metric of decisions has a series for each rule of the policy from the start', async () => {
  const counted = async (by: typeof app) => {
    const own = (await readMetrics(by)).samples.filter(({ name }) => name === COUNTER);
    return Object.fromEntries(own.map(({ labels, value }) => [seriesOf(labels), value]));
  };
  const rules = ['DENY listed', 'DENY tools-in-use shadow', 'CHALLENGE reused-token', 'ALLOW trusted']
    .concat(['CHALLENGE serious', 'CHALLENGE guided', 'CHALLENGE several', 'ALLOW otherwise'])
    .map((rule) => [rule, expect.any(Number)]);
  expect(await counted(app)).toMatchObject(Object.fromEntries(rules));
  const own = ['DENY watch shadow', 'DENY login', 'ALLOW otherwise'];
  expect(Object.keys(await counted(loginOnly)).sort()).toEqual(own.sort());
});
