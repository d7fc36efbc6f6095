import { afterAll, expect, test, vi } from 'vitest';
import { ANDROID, errorEnvelope, exception, FAIL, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { startInSandboxMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, hang, reset } from '../support/hostile.ts';
import { times } from '../support/times.ts';
import { gainOf, readMetrics } from './exposition.ts';
import { runAgainst, send, startAgainst, warningsOf } from './support.ts';

/** The metrics of upstream calls and queues, of captcha verdicts, and of signals and their differences from the catalogue. */

const DURATION = 'device_trust_upstream_duration_seconds';
const OUTCOMES = 'device_trust_captcha_outcomes_total';
const captcha = { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } };

const sandboxed = await startInSandboxMode();
let reply: Behaviour = hang;
const live = await runAgainst((exchange) => reply(exchange));
afterAll(() => Promise.all([sandboxed.stop(), live.stop()]));

/** What each service answers: the fingerprint service with this status, the captcha service with 200. */
const each =
  (device: string, captcha: string, status = 200): Behaviour =>
  (call) =>
    (call.request.includes('/validate') ? answer(200, captcha) : answer(status, device))(call);

/** Asks both services, and expects that each call counts like this. */
async function expectOutcome({ app }: Pick<Awaited<ReturnType<typeof runAgainst>>, 'app'>, outcome: string) {
  const input = { ...CAPTCHA_INPUT, captchaId: 'b'.repeat(32) };
  const gain = await gainOf(app, () =>
    Promise.all([
      send(app, { query: queryForTokens(['a']) }),
      send(app, { query: CAPTCHA_MUTATION, variables: { input } }),
    ]),
  );
  const counts = gain.of(`${DURATION}_count`);
  expect(counts).toHaveLength(2);
  expect(counts).toContainEqual([{ service: 'fingerprint', region: 'GLB', outcome }, 1]);
  expect(counts).toContainEqual([{ service: 'captcha', region: 'NA', outcome }, 1]);
  return gain.sum(`${DURATION}_sum`, { service: 'fingerprint' });
}

// Each waits for a probe, so side by side.
test.concurrent.each<[string, string, Behaviour]>([
  ['ok', 'a response as documented', each(JSON.stringify(ANDROID), JSON.stringify(PASS))],
  [
    'rejected',
    'a documented refusal',
    each(errorEnvelope(400, 'Invalid request', { errors: [] }), JSON.stringify(FAIL), 400),
  ],
  [
    'rejected',
    'a documented exception of the client',
    each(errorEnvelope(400, 'Invalid request', { errors: [] }), exception('-50003', 'already used'), 400),
  ],
  ['UPSTREAM_PROTOCOL_ERROR', 'an undocumented rejection', each('{}', JSON.stringify({ ...FAIL, status: 'error' }))],
  ['UPSTREAM_PROTOCOL_ERROR', 'a response that is not as documented', answer(200, '{}')],
  ['UPSTREAM_PROTOCOL_ERROR', 'a response that is not JSON as a whole', answer(200, 'callback({"code":200})')],
  ['http_4xx', 'a refusal by a firewall', answer(403, '<html>')],
  ['http_5xx', 'a server error', answer(500, '<html>')],
  ['UPSTREAM_UNAVAILABLE', 'a reset connection', reset],
])('an upstream call counts as %s for %s', async (outcome, _what, behave) => {
  const started = await runAgainst(behave, { fingerprintTimeoutMs: 10_000, captchaTimeoutMs: 10_000 });
  await expectOutcome(started, outcome);
  await started.stop();
});

test('an upstream call counts as exception for a documented failure of the captcha service', async () => {
  const { app, stop } = await runAgainst(answer(200, exception('-50000', 'runtime error')));
  const gain = await gainOf(app, () => send(app, captcha));
  expect(gain.of(`${DURATION}_count`)).toContainEqual([{ service: 'captcha', region: 'GLB', outcome: 'exception' }, 1]);
  await stop();
});

// Alone, and more than once on a busy machine, because this process must not be late.
test('an upstream call counts as UPSTREAM_TIMEOUT for no response, with its duration in seconds', async () => {
  const started = await startAgainst(hang, { fingerprintTimeoutMs: 500, captchaTimeoutMs: 500 });
  const seconds = await vi.waitFor(() => expectOutcome(started, 'UPSTREAM_TIMEOUT'), { timeout: 30_000 });
  // A call is measured from a moment after its deadline began.
  expect(seconds).toBeGreaterThan(0.25);
  expect(seconds).toBeLessThan(5);
});

test('an upstream call is in flight or queued, in its service and region, and its operation in flight, until its response or until its client disconnects', async () => {
  const patient = { fingerprintTimeoutMs: 60_000, captchaTimeoutMs: 60_000 };
  const { app } = await startAgainst(hang, { upstreamMaxInFlight: 3, ...patient });
  const callers = new AbortController();
  const asked = [
    { query: queryForTokens(times(6, String)) },
    { query: `{ deviceFingerprint(token: "a", publicKey: "pk_sandbox_eu") { __typename } }` },
    captcha,
  ].map((body) => send(app, body, {}, callers.signal));
  const GLB = { service: 'fingerprint', region: 'GLB' };
  const stateOfPolicy = async () => {
    const { value } = await readMetrics(app);
    return ['in_flight', 'queued'].map((what) => value(`device_trust_upstream_${what}`, GLB));
  };
  await expect.poll(stateOfPolicy, { interval: 20 }).toEqual([3, 3]);
  const inFlight = async () =>
    (await readMetrics(app)).samples.filter(({ name }) => name === 'device_trust_upstream_in_flight');
  await expect.poll(inFlight).toMatchObject([
    { labels: GLB, value: 3 },
    { labels: { service: 'fingerprint', region: 'EU' }, value: 1 },
    { labels: { service: 'captcha', region: 'GLB' }, value: 1 },
  ]);
  const operations = async () => (await readMetrics(app)).value('device_trust_operations_in_flight');
  expect(await operations()).toBe(3);
  callers.abort();
  await Promise.allSettled(asked);
  await expect.poll(stateOfPolicy).toEqual([0, 0]);
  await expect.poll(operations).toBe(0);
  const { samples } = await readMetrics(app);
  const counts = samples.filter(({ name }) => name === `${DURATION}_count`);
  expect(counts.map(({ labels, value }) => [labels['region'], labels['outcome'], value])).toEqual(
    expect.arrayContaining([['EU', 'CANCELLED', 1]]),
  );
  // The three that were sent, and not those that waited.
  expect(counts.find(({ labels }) => labels['region'] === 'GLB' && labels['service'] === 'fingerprint')?.value).toBe(3);
});

test('equal tokens of one operation are as many lookups and one call, and captchas are neither', async () => {
  const gain = await gainOf(sandboxed, async () => {
    await send(sandboxed, { query: queryForTokens(Array(10).fill('sandbox:web')) });
    await send(sandboxed, captcha);
  });
  expect(gain.sum('device_trust_fingerprint_lookups_total')).toBe(10);
  expect(gain.sum('device_trust_fingerprint_calls_total')).toBe(1);
});

const input = { ...CAPTCHA_INPUT, lotNumber: LOT_NUMBER };
const respond = (body: string, status = 200) => answer(status, body);
const failed = (reason: string) => respond(JSON.stringify({ ...FAIL, reason }));

test.each<[string, string, string, string, Behaviour]>([
  ['CaptchaPassed', '', 'true', 'a pass', respond(JSON.stringify(PASS))],
  ['CaptchaFailed', 'PASS_TOKEN_EXPIRED', 'false', 'a pass token that expired', failed('pass_token expire')],
  ['CaptchaFailed', 'ILLEGAL_SIGN_TOKEN', 'false', 'a wrong key', failed('illegal sign_token')],
  ['CaptchaIndeterminate', 'CLIENT', 'false', 'values used twice', respond(exception('-50308', 'payload Used'))],
  ['CaptchaIndeterminate', 'TRANSPORT', 'false', 'a status that no probe shows', respond('', 503)],
])(
  'a captcha verification counts by type, cause and whether it may proceed: %s %s %s for %s',
  async (type, cause, proceed, _what, behave) => {
    reply = behave;
    const gain = await gainOf(live.app, () => send(live.app, { query: CAPTCHA_MUTATION, variables: { input } }));
    expect(gain.of(OUTCOMES)).toEqual([[{ type, cause, proceed }, 1]]);
  },
);

test.concurrent.each<[string, string, Behaviour]>([
  ['SERVICE', 'an exception of the service', respond(exception('-50000', 'runtime error'))],
  ['TRANSPORT', 'a reset', reset],
])(
  'a captcha verification counts as CaptchaIndeterminate %s true for %s that our probes confirm, and beyond the limit false',
  async (cause, _what, behave) => {
    let answerProbe = answersProbes;
    const { app, stop } = await runAgainst(behave, {}, (exchange) => answerProbe(exchange));
    answerProbe = behave;
    const ask = () => send(app, { query: CAPTCHA_MUTATION, variables: { input } });
    await expect.poll(async () => (await ask()).text).toContain('"proceed":true');
    const { value } = await readMetrics(app);
    expect(value(OUTCOMES, { type: 'CaptchaIndeterminate', cause, proceed: 'true' })).toBe(1);
    const gain = await gainOf(app, () => Promise.all(times(20, ask)));
    await stop();
    // One of 10 has proceeded.
    const proceeded = gain.of(OUTCOMES).filter(([labels]) => labels['proceed'] === 'true');
    expect(proceeded.reduce((sum, [, count]) => sum + count, 0)).toBe(9);
    expect(gain.sum('device_trust_captcha_limited_total')).toBe(11);
  },
);

test('a captcha without a call counts as no verification', async () => {
  const empty = { ...input, lotNumber: '' };
  const gain = await gainOf(live.app, () => send(live.app, { query: CAPTCHA_MUTATION, variables: { input: empty } }));
  expect(gain.of(OUTCOMES)).toEqual([]);
});

/** The counts after an operation with this many aliases, whose one judgement has these signals. */
async function countedWith(signals: readonly object[], aliases: number, detail: object = ANDROID.data.detail) {
  reply = answer(200, JSON.stringify({ ...ANDROID, data: { ...ANDROID.data, signals, detail } }));
  const query = queryForTokens(Array(aliases).fill('one-token'));
  const gain = await gainOf(live.app, () => send(live.app, { query }));
  const countsOf = (metric: string) => gain.of(metric).map(([labels, count]) => [...Object.values(labels), count]);
  return [countsOf('device_trust_signals_total'), countsOf('device_trust_catalogue_drift_total')];
}

// Level and confidence of each: fingerprint document, 2.9.
const EMULATOR = { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 };
const VPN_ENABLED = { signal: 'VPN_ENABLED', level: 'LOW', confidence: 1 };

test.each([1, 10])(
  'a signal counts by code and level, once for each judgement, however many fields show it: %i',
  async (aliases) => {
    const each = [
      ['EMULATOR', 'HIGH', 1],
      ['VPN_ENABLED', 'LOW', 1],
    ];
    expect(await countedWith([EMULATOR, VPN_ENABLED], aliases)).toEqual([each, []]);
    expect(await countedWith([], aliases)).toEqual([[], []]);
  },
);

test.each<[string, object, readonly unknown[]]>([
  ['unknown_signal', { ...EMULATOR, signal: 'QUANTUM_EMULATOR' }, ['unknown', 'HIGH', 1]],
  ['unknown_signal', { ...EMULATOR, signal: 'constructor' }, ['unknown', 'HIGH', 1]],
  ['level', { ...EMULATOR, level: 'LOW' }, ['EMULATOR', 'LOW', 1]],
  ['confidence', { ...EMULATOR, confidence: 0.94 }, ['EMULATOR', 'HIGH', 1]],
  ['level', { ...VPN_ENABLED, level: 'MEDIUM', confidence: 0.2 }, ['VPN_ENABLED', 'MEDIUM', 1]],
  ['level', { ...EMULATOR, level: 'CRITICAL' }, ['EMULATOR', 'HIGH', 1]],
])('a signal that differs from the catalogue counts as drift of kind %s: %o', async (kind, signal, counted) => {
  expect(await countedWith([signal], 3)).toEqual([[counted], [[kind, 1]]]);
});

test('the log names a new word of a signal once, unless it is long or no word', async () => {
  const name = (client_type: string) => countedWith([], 1, { ...ANDROID.data.detail, client_type });
  expect(await name('Car/TV')).toEqual([[], [['client_type', 1]]]);
  for (const word of ['Car/TV', 'ada@mail.test', 'x'.repeat(49), '', 'constructor']) await name(word);
  const named = warningsOf(live.app).flatMap(({ cause }) => (`${cause}`.startsWith('client_type') ? [cause] : []));
  expect(named).toEqual(['Car/TV', 'another one', 'constructor'].map((word) => `client_type: ${word}`));
});
