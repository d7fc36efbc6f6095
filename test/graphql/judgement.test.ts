import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_POLICY, policyFile } from '../../src/fingerprint/policy.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signal-catalogue.ts';
import type { Config } from '../../src/settings/variables.ts';
import { ANDROID, WEB } from '../faults/documented.ts';
import { gainOf, readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { NEW_KEY, OLD_KEY, SEALING_KEYS } from '../support/judgements.ts';
import { ask as askWith, type GraphqlError, type Operation } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/**
 * A judgement is sealed once and opened as often as anyone looks, without another event; and it keeps what was decided, and for
 * whom the caller asked.
 */

const TEN = SIGNAL_CATALOGUE.slice(0, 10).map(({ code, level, confidence }) => ({ signal: code, level, confidence }));
const PHONE = { ...ANDROID, data: { ...ANDROID.data, signals: TEN } };
/** Its client type and a level are newer than the document. */
const CAR = JSON.parse(JSON.stringify(PHONE).replace('"Android"', '"Car"').replace('"LOW"', '"CRITICAL"'));
const ANSWERS: Readonly<Record<string, object>> = { web: WEB, car: CAR, emulator: ANDROID };
const upstream = await startUpstream(({ body }, response) => {
  const [kind = ''] = JSON.parse(body).device_token.split('-');
  sendJson(response, 200, ANSWERS[kind] ?? PHONE);
});
const ROUTER_SECRET = 'router-secret-of-the-tests';
const apps: TestApp[] = [];
const start = async (settings: Partial<Config> = {}) => {
  const callers = { routerSecrets: [ROUTER_SECRET], trustedHeaders: { subject: 'x-user-id' } };
  const app = await startInLiveMode(upstream.url, { sealingKeys: SEALING_KEYS, ...callers, ...settings });
  apps.push(app);
  return app;
};
const app = await start();
afterAll(() => Promise.all([...apps.map((one) => one.stop()), upstream.stop()]));

/** Asks as the router does, on behalf of this person. */
function ask({ graphqlUrl }: TestApp, query: string, variables: Operation['variables'] = {}, person?: string) {
  const headers = { 'router-authorization': ROUTER_SECRET, ...(person === undefined ? {} : { 'x-user-id': person }) };
  return askWith(graphqlUrl, query, variables, headers);
}
beforeEach(() => {
  upstream.received.length = 0;
});

const BASIC = `deviceBasic {
  __typename
  ... on Mobile { os { name version } architecture model }
  ... on Web { browser { name version major additional } device { model vendor additional } os { name version additional } }
}`;
const SHARED = `publicKey requestId eventId version clientType ${BASIC} device { id } ipInfo { ip } signals { name code level confidence effect meaning }`;
const EVERYTHING = `sealed isShortened judgedAt subject eventType ${SHARED} decision { action rule policy }`;
const JUDGE = `query ($token: String!, $eventType: String) {
  deviceFingerprint(token: $token, eventType: $eventType, metadata: { email: "ada.canary@mail.test" }) {
    ... on DeviceFingerprint { ${SHARED} judgement { ${EVERYTHING} } }
  }
}`;
const open = (fields = EVERYTHING) =>
  `query ($references: [_Any!]!) { _entities(representations: $references) { ... on DeviceJudgement { ${fields} } } }`;
const reference = (sealed: unknown) => ({ __typename: 'DeviceJudgement', sealed });

async function judge(token: string, by = app, eventType?: string) {
  const { data, errors } = await ask(by, JUDGE, { token, eventType });
  expect(errors).toBeUndefined();
  return data.deviceFingerprint;
}
const sealedBy = async (by: TestApp, token = 'phone'): Promise<string> => (await judge(token, by)).judgement.sealed;
const openBy = (by: TestApp, ...sealed: unknown[]) => ask(by, open(), { references: sealed.map(reference) });

const COUNTER = 'device_trust_judgements_total';

test.each(['phone', 'web', 'car'])(
  'a sealed judgement opens later with the same data, without a new event, by Apollo Server and by compiled code: %s',
  async (token) => {
    const { judgement, ...judged } = await judge(token, app, 'checkout');
    const { sealed, isShortened, judgedAt, subject, eventType, decision, ...same } = judgement;
    expect(isShortened).toBe(false);
    expect(same).toEqual(judged);
    expect(same.deviceBasic === null).toBe(token === 'car');
    expect([subject, eventType]).toEqual([null, 'checkout']);
    expect(decision).toEqual({ action: expect.any(String), rule: expect.any(String), policy: DEFAULT_POLICY.id });
    expect(Math.abs(Date.now() - Date.parse(judgedAt))).toBeLessThan(60_000);
    upstream.received.length = 0;
    for (let time = 0; time < 5; time += 1) {
      const { data, errors } = await openBy(app, sealed);
      expect([errors, data._entities]).toEqual([undefined, [judgement]]);
    }
    expect(upstream.received).toEqual([]);
  },
);

test('a judgement is not sealed unless its sealed text is selected', async () => {
  const query = (fields: string) => `{ deviceFingerprint(token: "phone") { ... on DeviceFingerprint { ${fields} } } }`;
  const without = await gainOf(app, async () => {
    for (const fields of ['judgement { judgedAt eventId }', 'eventId', 'judgement { __typename signals { name } }']) {
      for (let time = 0; time < 4; time += 1) expect((await ask(app, query(fields))).errors).toBeUndefined();
    }
  });
  expect(without.sum(COUNTER)).toBe(0);
  const gain = await gainOf(app, async () => {
    const { data } = await ask(app, query('a: judgement { sealed isShortened } b: judgement { sealed c: sealed }'));
    const { a, b } = data.deviceFingerprint;
    expect([b.sealed, b.c]).toEqual([a.sealed, a.sealed]);
  });
  expect(gain.of(COUNTER)).toEqual([[{ outcome: 'sealed' }, 1]]);
});

test('filters of signals work as they do on a fresh judgement', async () => {
  const sealed = await sealedBy(app);
  const ask2 = async (filter: string) => {
    const { data, errors } = await ask(app, open(`eventId signals(${filter}) { name level confidence }`), {
      references: [reference(sealed)],
    });
    return { errors, ...data._entities[0] };
  };
  const names = TEN.filter(({ level, confidence }) => level === 'HIGH' && confidence >= 0.95).map((one) => one.signal);
  const { signals } = await ask2('minLevel: HIGH, minConfidence: 0.95');
  expect(signals.map(({ name }: { name: string }) => name)).toEqual(names);
  for (const outside of [95, 1.01, -0.01]) {
    const { signals: none, eventId, errors } = await ask2(`minConfidence: ${outside}`);
    expect([none, eventId, errors?.[0]?.extensions.code]).toEqual([null, expect.any(String), 'BAD_USER_INPUT']);
  }
});

test('a sealed text that cannot be opened is null with a code, beside others that can, and nothing is judged instead', async () => {
  const sealed = await sealedBy(app);
  upstream.received.length = 0;
  const altered = `${sealed.slice(0, -1)}${sealed.endsWith('A') ? 'Q' : 'A'}`;
  const gain = await gainOf(app, async () => {
    for (let time = 0; time < 5; time += 1) {
      const { data, errors, text } = await openBy(app, altered, sealed, 'canary-of-a-caller', '', 5);
      const [first, second, ...rest] = data._entities;
      expect([first, second.sealed, rest]).toEqual([null, sealed, [null, null, null]]);
      const unreadable = { code: 'JUDGEMENT_UNREADABLE', retryable: false };
      expect(errors?.map(({ path, extensions }) => [path?.[1], extensions])).toEqual([
        [0, unreadable],
        [2, unreadable],
        [3, unreadable],
        [4, { code: 'BAD_USER_INPUT', retryable: false }],
      ]);
      expect(text).not.toContain('canary');
    }
  });
  expect(upstream.received).toEqual([]);
  const grown = Object.fromEntries(gain.of(COUNTER).map(([{ outcome }, count]) => [outcome, count]));
  expect(grown).toEqual({ opened: 5, unreadable: 15 });
  expect(app.logged()).not.toMatch(/canary|eyJ/);
});

test('a judgement and opening one without sealing keys are errors that the operator has to correct', async () => {
  const none = await start({ sealingKeys: [] });
  const expectNotConfigured = (errors: readonly GraphqlError[] | undefined, ...path: (string | number)[]) => {
    const extensions = { code: 'NOT_CONFIGURED', retryable: false };
    expect(errors).toMatchObject([{ path, extensions, message: expect.stringContaining('SEALING_KEYS') }]);
  };
  const judged = await ask(none, JUDGE, { token: 'phone' });
  expect(judged.data.deviceFingerprint).toMatchObject({
    device: { id: ANDROID.data.fp_detail.device_id },
    judgement: null,
  });
  expectNotConfigured(judged.errors, 'deviceFingerprint', 'judgement');
  const opened = await openBy(none, await sealedBy(app));
  expect(opened.data).toEqual({ _entities: [null] });
  expectNotConfigured(opened.errors, '_entities', 0);
  // Both can be asked for at will, so neither wakes an operator.
  const { value } = await readMetrics(none);
  expect(value(COUNTER, { outcome: 'unreadable' })).toBe(0);
  expect(value('device_trust_operations_failed_total', { side: 'operator' })).toBe(0);
});

test('the first sealing key seals, each opens, and without its key a judgement is lost', async () => {
  const old = await sealedBy(await start({ sealingKeys: [OLD_KEY] }));
  const both = await sealedBy(app);
  expect((await openBy(app, old, both)).errors).toBeUndefined();
  const { data, errors } = await openBy(await start({ sealingKeys: [NEW_KEY] }), old, both);
  expect([data._entities[0], data._entities[1].sealed]).toEqual([null, both]);
  expect(errors).toMatchObject([{ path: ['_entities', 0], extensions: { code: 'JUDGEMENT_UNREADABLE' } }]);
});

test('500 judgements of 1,000 characters fit into a body, and everything about them is allowed', async () => {
  const judgement = await judge('web');
  const document = `query ($e: String) { deviceFingerprint(token: "web", eventType: $e) { ... on DeviceFingerprint { judgement { sealed } } } }`;
  const missing = Math.floor(((1_000 - judgement.judgement.sealed.length) * 3) / 4) - 10;
  const { data } = await ask(app, document, { e: 'é'.repeat(Math.max(0, missing / 2)) });
  const { sealed } = data.deviceFingerprint.judgement;
  expect(sealed.length).toBeGreaterThan(970);
  // Each is opened by itself, because equal references are opened once.
  const distinct = Array.from({ length: 20 }, () => sealedBy(app));
  const references = [...(await Promise.all(distinct)), ...Array(480).fill(sealed)].map(reference);
  const answer = await ask(app, open(), { references });
  expect([answer.errors, answer.data._entities.length]).toEqual([undefined, 500]);
});

describe('what was decided, and for whom', async () => {
  const LOGIN_ONLY = policyFile.parse(`{
  "rules": [{ "id": "login", "when": { "eventType": "login", "anyOf": ["EMULATOR"] }, "then": "DENY" }],
  "otherwise": "ALLOW"
}`);
  const loginOnly = await start({ riskPolicy: LOGIN_ONLY });
  const DECISION = 'decision { action rule policy }';
  const judgeWith = (fields: string) => `query ($token: String!, $eventType: String) {
  deviceFingerprint(token: $token, eventType: $eventType) { ... on DeviceFingerprint { ${fields} } }
}`;
  type Judged = { readonly person?: string; readonly eventType?: string | undefined; readonly by?: TestApp };
  const judge = async (fields: string, { person, eventType, by = app }: Judged = {}) =>
    (await ask(by, judgeWith(fields), { token: 'emulator', eventType }, person)).data.deviceFingerprint;
  const openFor = async (sealed: string, person?: string, by = app) => {
    const references = [reference(sealed)];
    return (await ask(by, open(`subject ${DECISION}`), { references }, person)).data._entities[0];
  };

  /** How many decisions were counted while this ran. */
  const countedDuring = async (run: () => Promise<unknown>) =>
    (await gainOf(app, run)).sum('device_trust_decisions_total');

  // Apollo Server answers a document at first, and compiled code once it was sent several times.
  const TIMES = [1, 2, 3, 4, 5];

  test('a record keeps the decision of its time, whatever the policy is when it is opened', async () => {
    const expected = { action: 'CHALLENGE', rule: 'serious', policy: DEFAULT_POLICY.id };
    for (const _time of TIMES) {
      const { decision, judgement } = await judge(`${DECISION} judgement { sealed ${DECISION} }`);
      expect([decision, judgement.decision]).toEqual([expected, expected]);
      expect((await openFor(judgement.sealed, undefined, loginOnly)).decision).toEqual(expected);
    }
  });

  test('the decision is in the record even if nobody selects it', async () => {
    const ruleOf = async (eventType?: string) =>
      (await openFor((await judge('judgement { sealed }', { eventType, by: loginOnly })).judgement.sealed)).decision;
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

  test('opening a record decides nothing', async () => {
    const { judgement } = await judge('judgement { sealed }');
    expect(await countedDuring(() => openFor(judgement.sealed))).toBe(0);
  });

  test('a record keeps for whom the caller asked, whoever opens it', async () => {
    for (const _time of TIMES) {
      const { judgement } = await judge('judgement { sealed subject }', { person: 'user-1' });
      expect(judgement.subject).toBe('user-1');
      expect((await openFor(judgement.sealed, 'analyst-2')).subject).toBe('user-1');
      expect((await openFor(judgement.sealed)).subject).toBe('user-1');
    }
  });
});
