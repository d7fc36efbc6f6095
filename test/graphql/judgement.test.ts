import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/fingerprint/default-policy.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import { ANDROID, WEB } from '../faults/documented.ts';
import { readMetrics } from '../observability/exposition.ts';
import { DEFAULTS, startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import { NEW_KEY, OLD_KEY, SEALING_KEYS } from '../support/judgements.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** A judgement is sealed once and opened as often as anyone looks, without another event (design, section 8). */

const SIGNALS = SIGNAL_CATALOGUE.slice(0, 10).map(({ code, level, confidence }) => ({
  signal: code,
  level,
  confidence,
}));
const PHONE = { ...ANDROID, data: { ...ANDROID.data, signals: SIGNALS } };
const upstream = await startUpstream(({ body }, response) =>
  sendJson(response, 200, JSON.parse(body).device_token.startsWith('web') ? WEB : PHONE),
);
const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
const apps: TestApp[] = [];
const start = async (sealingKeys = SEALING_KEYS) => {
  const app = await startInLiveMode(urls, { sealingKeys });
  apps.push(app);
  return app;
};
const app = await start();
afterAll(() => Promise.all([...apps.map((one) => one.stop()), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
});

const BASIC = `deviceBasic {
  __typename
  ... on Mobile { os { name version } architecture model }
  ... on Web { browser { name version major additional } device { model vendor additional } os { name version additional } }
}`;
const SHARED = `publicKey requestId eventId version clientType ${BASIC} device { id } ipInfo { ip } signals { name code level confidence effect meaning }`;
const EVERYTHING = `sealed judgedAt subject eventType ${SHARED} decision { action rule policy }`;
const JUDGE = `query ($token: String!, $eventType: String) {
  deviceFingerprint(token: $token, eventType: $eventType, metadata: { email: "ada.canary@mail.test" }) {
    ... on DeviceFingerprint { ${SHARED} judgement { ${EVERYTHING} } }
  }
}`;
const open = (fields = EVERYTHING) =>
  `query ($references: [_Any!]!) { _entities(representations: $references) { ... on DeviceJudgement { ${fields} } } }`;
const reference = (sealed: unknown) => ({ __typename: 'DeviceJudgement', sealed });

async function judge(token: string, by = app, eventType?: string) {
  const { data, errors } = await ask(by.graphqlUrl, JUDGE, { token, eventType });
  expect(errors).toBeUndefined();
  return data.deviceFingerprint;
}
const sealedBy = async (by: TestApp, token = 'phone'): Promise<string> => (await judge(token, by)).judgement.sealed;
const openBy = (by: TestApp, ...sealed: unknown[]) => ask(by.graphqlUrl, open(), { references: sealed.map(reference) });

async function counted(by: TestApp) {
  const { samples } = await readMetrics(by);
  const own = samples.filter(({ name }) => name === 'device_trust_judgements_total');
  return Object.fromEntries(own.map(({ labels, value }) => [labels['outcome'], value]));
}

describe.each(['phone', 'web'])('the judgement of a %s', (token) => {
  test('says what was judged, and opens as the same, by Apollo Server and by compiled code', async () => {
    const { judgement, ...judged } = await judge(token, app, 'checkout');
    const { sealed, judgedAt, subject, eventType, decision, ...same } = judgement;
    expect(same).toEqual(judged);
    expect([subject, eventType]).toEqual([null, 'checkout']);
    expect(decision).toEqual({ action: expect.any(String), rule: expect.any(String), policy: DEFAULT_POLICY.id });
    expect(Math.abs(Date.now() - Date.parse(judgedAt))).toBeLessThan(60_000);
    upstream.received.length = 0;
    for (let time = 0; time < 5; time += 1) {
      const { data, errors } = await openBy(app, sealed);
      expect([errors, data._entities]).toEqual([undefined, [judgement]]);
    }
    expect(upstream.received).toEqual([]);
  });
});

test('a judgement is not sealed unless its sealed text is selected', async () => {
  const before = await counted(app);
  const query = (fields: string) => `{ deviceFingerprint(token: "phone") { ... on DeviceFingerprint { ${fields} } } }`;
  for (const fields of ['judgement { judgedAt eventId }', 'eventId', 'judgement { __typename signals { name } }']) {
    for (let time = 0; time < 4; time += 1) expect((await ask(app.graphqlUrl, query(fields))).errors).toBeUndefined();
  }
  expect((await counted(app))['sealed']).toBe(before['sealed']);
  const aliases = 'a: judgement { sealed } b: judgement { sealed c: sealed }';
  const { data } = await ask(app.graphqlUrl, query(aliases));
  const { a, b } = data.deviceFingerprint;
  expect([b.sealed, b.c]).toEqual([a.sealed, a.sealed]);
  expect((await counted(app))['sealed']).toBe((before['sealed'] ?? 0) + 1);
});

test('filters of signals work as they do on a fresh judgement', async () => {
  const sealed = await sealedBy(app);
  const ask2 = async (filter: string) => {
    const { data, errors } = await ask(app.graphqlUrl, open(`eventId signals(${filter}) { name level confidence }`), {
      references: [reference(sealed)],
    });
    return { errors, ...data._entities[0] };
  };
  const names = SIGNALS.filter(({ level, confidence }) => level === 'HIGH' && confidence >= 0.95).map(
    (one) => one.signal,
  );
  const { signals } = await ask2('minLevel: HIGH, minConfidence: 0.95');
  expect(signals.map(({ name }: { name: string }) => name)).toEqual(names);
  const wrong = await ask2('minConfidence: 95');
  expect([wrong.signals, wrong.eventId, wrong.errors?.[0]?.extensions.code]).toEqual([
    null,
    expect.any(String),
    'BAD_USER_INPUT',
  ]);
});

test('what cannot be opened is null with a code, beside others that can, and nothing is judged instead', async () => {
  const sealed = await sealedBy(app);
  const before = await counted(app);
  upstream.received.length = 0;
  const altered = `${sealed.slice(0, -1)}${sealed.endsWith('A') ? 'Q' : 'A'}`;
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
  expect(upstream.received).toEqual([]);
  const { opened = 0, unreadable = 0 } = await counted(app);
  expect([opened - (before['opened'] ?? 0), unreadable - (before['unreadable'] ?? 0)]).toEqual([5, 15]);
  expect(app.logged()).not.toMatch(/canary|eyJ/);
});

test('equal references are opened once', async () => {
  const sealed = await sealedBy(app);
  const before = await counted(app);
  const { data } = await openBy(app, ...Array(500).fill(sealed));
  expect(data._entities).toHaveLength(500);
  expect((await counted(app))['opened']).toBe((before['opened'] ?? 0) + 1);
});

describe('keys', () => {
  test('of which a replica has none give no judgements, and open none', async () => {
    const none = await start([]);
    expect((await judge('phone', none)).judgement).toBeNull();
    const { data, errors } = await openBy(none, await sealedBy(app));
    expect([data._entities, errors?.[0]?.extensions.code]).toEqual([[null], 'JUDGEMENT_UNREADABLE']);
  });

  test('that two replicas share let each open what the other has sealed, whichever is first', async () => {
    const other = await start([OLD_KEY, NEW_KEY]);
    expect((await openBy(other, await sealedBy(app))).errors).toBeUndefined();
    expect((await openBy(app, await sealedBy(other))).errors).toBeUndefined();
  });

  test('are rotated without a restart: an old one opens until it is removed', async () => {
    const rotated = await start([OLD_KEY]);
    const old = await sealedBy(rotated);
    const config = { ...DEFAULTS, fingerprintApplications: [] };
    rotated.rotate({ ...config, sealingKeys: SEALING_KEYS });
    const both = await sealedBy(rotated);
    expect((await openBy(rotated, old, both)).errors).toBeUndefined();
    rotated.rotate({ ...config, sealingKeys: [NEW_KEY] });
    const { data, errors } = await openBy(rotated, old, both);
    expect([data._entities[0], data._entities[1].sealed]).toEqual([null, both]);
    expect(errors).toMatchObject([{ path: ['_entities', 0], extensions: { code: 'JUDGEMENT_UNREADABLE' } }]);
  });

  test('are made at the start of sandbox mode, one for each process', async () => {
    const [one, another] = await Promise.all([startInSandboxMode(), startInSandboxMode()]);
    apps.push(one, another);
    const sealed = await sealedBy(one, 'sandbox:android');
    expect((await openBy(one, sealed)).errors).toBeUndefined();
    expect((await openBy(another, sealed)).errors?.[0]?.extensions.code).toBe('JUDGEMENT_UNREADABLE');
  });
});

describe('what it costs', () => {
  /** The client runs in this process as well, and a shared core is slower at times. */
  const FACTOR = 2;

  /** CPU of both sides in ms: the client runs in this process as well. The least of several attempts. */
  async function cpuOf(sealed: readonly string[], fields: string, times = 12) {
    const variables = { references: sealed.map(reference) };
    const attempts: number[] = [];
    for (let time = 0; time < times; time += 1) {
      const before = process.cpuUsage();
      const { errors, data } = await ask(app.graphqlUrl, open(fields), variables);
      const { user, system } = process.cpuUsage(before);
      expect([errors, data._entities.length]).toEqual([undefined, sealed.length]);
      attempts.push((user + system) / 1_000);
    }
    return Math.min(...attempts);
  }

  test('each of 100 judgements takes at most 100 µs of CPU, and no call', async () => {
    const sealed = await Promise.all(Array.from({ length: 100 }, () => sealedBy(app)));
    upstream.received.length = 0;
    // A request for one of them shows what HTTP costs both sides.
    const one = await cpuOf(sealed.slice(0, 1), 'judgedAt eventId', 60);
    const all = await cpuOf(sealed, 'judgedAt eventId', 60);
    expect((all - one) / 99).toBeLessThan(0.1 * FACTOR);
    expect(upstream.received).toEqual([]);
  });

  test('500 judgements of 1,000 characters fit into a body, everything about them is allowed, and takes less than 250 ms', async () => {
    const judgement = await judge('web');
    const document = `query ($e: String) { deviceFingerprint(token: "web", eventType: $e) { ... on DeviceFingerprint { judgement { sealed } } } }`;
    const sealedWith = async (length: number): Promise<string> =>
      (await ask(app.graphqlUrl, document, { e: 'e'.repeat(length) })).data.deviceFingerprint.judgement.sealed;
    const missing = Math.floor(((1_000 - judgement.judgement.sealed.length) * 3) / 4) - 10;
    const sealed = await Promise.all(Array.from({ length: 500 }, () => sealedWith(Math.max(0, missing))));
    expect(sealed[0]?.length).toBeGreaterThan(970);
    expect(await cpuOf(sealed, EVERYTHING)).toBeLessThan(250 * FACTOR);
  });
});
