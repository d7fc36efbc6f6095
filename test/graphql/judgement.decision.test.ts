import { afterAll, beforeEach, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/fingerprint/default-policy.ts';
import { parsePolicy } from '../../src/fingerprint/policy-file.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import { post } from '../support/requests.ts';

/** A judgement keeps what the risk policy decided, and for whom the caller asked (design, section 8). */

const ROUTER_SECRET = 'router-secret-of-the-tests';
const app = await startInSandboxMode({
  sealingKeys: SEALING_KEYS,
  routerSecrets: [ROUTER_SECRET],
  trustedHeaders: { subject: 'x-user-id' },
});
afterAll(() => app.stop());
beforeEach(() => app.usePolicy(DEFAULT_POLICY));

const TOKEN = 'sandbox:android:EMULATOR';
const LENIENT = parsePolicy(`{
  "rules": [{ "id": "lenient", "when": { "minLevel": "LOW" }, "then": "ALLOW" }],
  "otherwise": "ALLOW"
}`);
const LOGIN_ONLY = parsePolicy(`{
  "rules": [{ "id": "login", "when": { "eventType": "login", "anyOf": ["EMULATOR"] }, "then": "DENY" }],
  "otherwise": "ALLOW"
}`);
const DECISION = 'decision { action rule policy }';
const judgeWith = (fields: string) => `query ($token: String!, $eventType: String) {
  deviceFingerprint(token: $token, eventType: $eventType) { ... on DeviceFingerprint { ${fields} } }
}`;
const OPEN = `query ($references: [_Any!]!) {
  _entities(representations: $references) { ... on DeviceJudgement { subject ${DECISION} } }
}`;

/** Asks as the router does, on behalf of this person. */
async function askFor(person: string | undefined, query: string, variables: Record<string, unknown>) {
  const headers = { 'router-authorization': ROUTER_SECRET, ...(person === undefined ? {} : { 'x-user-id': person }) };
  const { data, errors } = await post(app.graphqlUrl, JSON.stringify({ query, variables }), headers);
  expect(errors).toBeUndefined();
  return data;
}
const judge = async (fields: string, { person, eventType }: { person?: string; eventType?: string } = {}) =>
  (await askFor(person, judgeWith(fields), { token: TOKEN, eventType })).deviceFingerprint;
const open = async (sealed: string, person?: string) =>
  (await askFor(person, OPEN, { references: [{ __typename: 'DeviceJudgement', sealed }] }))._entities[0];

/** How many decisions were counted while this ran. */
async function countedDuring(run: () => Promise<unknown>) {
  const count = async () => {
    const { samples } = await readMetrics(app);
    const own = samples.filter(({ name }) => name === 'device_trust_decisions_total');
    return own.reduce((sum, { value }) => sum + value, 0);
  };
  const before = await count();
  await run();
  return (await count()) - before;
}

// Apollo Server answers a document at first, and compiled code once it was sent several times.
const TIMES = [1, 2, 3, 4, 5];

test('a record keeps the decision of its time, whatever the policy is when it is opened', async () => {
  const expected = { action: 'CHALLENGE', rule: 'serious', policy: DEFAULT_POLICY.id };
  for (const _time of TIMES) {
    app.usePolicy(DEFAULT_POLICY);
    const { decision, judgement } = await judge(`${DECISION} judgement { sealed ${DECISION} }`);
    expect([decision, judgement.decision]).toEqual([expected, expected]);
    app.usePolicy(LENIENT);
    expect((await open(judgement.sealed)).decision).toEqual(expected);
  }
});

test('the decision is in the record even if nobody selects it', async () => {
  app.usePolicy(LOGIN_ONLY);
  const ruleOf = async (eventType?: string) =>
    (await open((await judge('judgement { sealed }', eventType === undefined ? {} : { eventType })).judgement.sealed))
      .decision;
  expect(await ruleOf('login')).toEqual({ action: 'DENY', rule: 'login', policy: LOGIN_ONLY.id });
  expect(await ruleOf()).toEqual({ action: 'ALLOW', rule: 'otherwise', policy: LOGIN_ONLY.id });
});

test.each([
  [`${DECISION} judgement { sealed ${DECISION} again: sealed }`, 1],
  [`judgement { ${DECISION} } ${DECISION}`, 1],
  ['judgement { sealed }', 1],
  ['judgement { judgedAt signals { code } }', 0],
])('%s counts this many decisions: %i', async (fields, count) => {
  for (const _time of TIMES) expect(await countedDuring(() => judge(fields))).toBe(count);
});

test('to open a record decides nothing', async () => {
  const { judgement } = await judge('judgement { sealed }');
  expect(await countedDuring(() => open(judgement.sealed))).toBe(0);
});

test('a record keeps for whom the caller asked, whoever opens it', async () => {
  for (const _time of TIMES) {
    const { judgement } = await judge('judgement { sealed subject }', { person: 'user-1' });
    expect(judgement.subject).toBe('user-1');
    expect((await open(judgement.sealed, 'analyst-2')).subject).toBe('user-1');
    expect((await open(judgement.sealed)).subject).toBe('user-1');
  }
});

test('without a person in the trusted header there is none in the record', async () => {
  const { judgement } = await judge('judgement { sealed subject }');
  expect(judgement.subject).toBeNull();
  expect((await open(judgement.sealed, 'analyst-2')).subject).toBeNull();
});
