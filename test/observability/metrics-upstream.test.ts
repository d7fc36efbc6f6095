import { describe, expect, test } from 'vitest';
import { ANDROID, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY } from '../support/graphql.ts';
import { answer, type Behaviour, hang, reset } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { aboutTokens, alarmsOf, operationsOf, send, startAgainst, startSandboxed } from './support.ts';

/** What the metrics say of the upstreams: how they answer, how often they are asked, and when they are not asked any more. */

const DURATION = 'device_trust_upstream_duration_seconds';
const input = { lotNumber: LOT_NUMBER, captchaOutput: 'o', passToken: 'p', genTime: '1' };
const captcha = { query: CAPTCHA_MUTATION, variables: { input } };
const times = (count: number) => Array.from({ length: count }, (_, index) => `token-${index}`);

describe('an upstream call', () => {
  test.each<[string, string, Behaviour]>([
    ['ok', 'as documented', answer(200, JSON.stringify(ANDROID))],
    ['ok', 'that is not as documented, but came', answer(200, '{}')],
    ['http_4xx', 'that refuses', answer(403, '{}')],
    ['http_5xx', 'that fails', answer(502, '<html>')],
    ['UPSTREAM_UNAVAILABLE', 'that is a reset', reset],
    ['UPSTREAM_TIMEOUT', 'that never comes', hang],
    ['UPSTREAM_PROTOCOL_ERROR', 'that is too large', answer(200, ' '.repeat(300_000))],
  ])('counts as %s with an answer %s', async (outcome, _what, behave) => {
    const deadline = behave === hang ? 250 : 10_000;
    const { app } = await startAgainst(behave, { fingerprintTimeoutMs: deadline, captchaTimeoutMs: deadline });
    await send(app, { query: aboutTokens(['a']) });
    await send(app, {
      query:
        'mutation { validateCaptcha(input: { lotNumber: "l", captchaOutput: "o", passToken: "p", genTime: "1", captchaId: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" }) { proceed } }',
    });
    const { samples, value } = await readMetrics(app);
    const counts = samples.filter(({ name }) => name === `${DURATION}_count`);
    expect(counts.map(({ labels, value: count }) => [labels, count])).toEqual([
      [{ service: 'fingerprint', region: 'GLB', outcome }, 1],
      [{ service: 'captcha', region: 'NA', outcome }, 1],
    ]);
    const seconds = value(`${DURATION}_sum`, { service: 'fingerprint' }) ?? 0;
    expect(seconds).toBeGreaterThan(outcome === 'UPSTREAM_TIMEOUT' ? 0.24 : 0);
    expect(seconds).toBeLessThan(5);
  });

  test('counts as CANCELLED when the caller hangs up', async () => {
    const { app, upstream } = await startAgainst(hang);
    const caller = new AbortController();
    const asked = send(app, { query: aboutTokens(['a']) }, {}, caller.signal);
    await expect.poll(() => upstream.requests).toBe(1);
    caller.abort();
    await expect(asked).rejects.toThrow();
    const cancelled = async () => (await readMetrics(app)).value(`${DURATION}_count`, { outcome: 'CANCELLED' });
    await expect.poll(cancelled).toBe(1);
  });

  test('is in flight or queued while others hang, each in its service and region', async () => {
    const { app } = await startAgainst(hang, {
      fingerprintTimeoutMs: 2_000,
      captchaTimeoutMs: 2_000,
      upstreamMaxInFlight: 3,
      upstreamMaxQueue: 2,
    });
    const asked = [
      send(app, { query: aboutTokens(times(5)) }),
      send(app, { query: `{ deviceFingerprint(token: "a", publicKey: "pk_sandbox_eu") { __typename } }` }),
      send(app, captcha),
    ];
    const GLB = { service: 'fingerprint', region: 'GLB' };
    const standing = async () => {
      const { value } = await readMetrics(app);
      return ['in_flight', 'queued'].map((what) => value(`device_trust_upstream_${what}`, GLB));
    };
    await expect.poll(standing, { interval: 20 }).toEqual([3, 2]);
    const { samples } = await readMetrics(app);
    expect(samples.filter(({ name }) => name === 'device_trust_upstream_in_flight')).toMatchObject([
      { labels: GLB, value: 3 },
      { labels: { service: 'fingerprint', region: 'EU' }, value: 1 },
      { labels: { service: 'captcha', region: 'GLB' }, value: 1 },
    ]);
    await Promise.all(asked);
    await expect.poll(standing).toEqual([0, 0]);
  });

  test('counts only if it was made: not if there was no room for it, nor if the caller hung up before there was', async () => {
    const { app, upstream } = await startAgainst(hang, { upstreamMaxInFlight: 2, upstreamMaxQueue: 1 });
    const caller = new AbortController();
    const asked = send(app, { query: aboutTokens(times(5)) }, {}, caller.signal);
    await expect.poll(() => upstream.requests).toBe(2);
    caller.abort();
    await expect(asked).rejects.toThrow();
    await expect.poll(() => operationsOf(app)).toMatchObject([{ upstreamCalls: 2 }]);
    expect(upstream.requests).toBe(2);
    const { value } = await readMetrics(app);
    expect(value(`${DURATION}_count`)).toBe(2);
    expect(value('device_trust_fingerprint_calls_total')).toBe(2);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(5);
    expect(value('device_trust_errors_total', { code: 'OVERLOADED' })).toBe(2);
    expect(value('device_trust_errors_total', { code: 'CANCELLED' })).toBe(3);
  });
});

describe('a circuit breaker', () => {
  const FAILING = Array.from({ length: 20 }, (_, index) => `token-${index}`);

  test('shows as open after failures, per service and region, and its calls are none', async () => {
    const { app, upstream } = await startAgainst(answer(503, ''));
    await send(app, { query: aboutTokens(FAILING) });
    await send(app, captcha);
    expect(upstream.requests).toBe(21);
    const before = await readMetrics(app);
    await send(app, { query: aboutTokens(times(5)) });
    expect(upstream.requests).toBe(21);
    const { samples, value } = await readMetrics(app);
    expect(samples.filter(({ name }) => name === 'device_trust_upstream_breaker_open')).toMatchObject([
      { labels: { service: 'fingerprint', region: 'GLB' }, value: 1 },
      { labels: { service: 'captcha', region: 'GLB' }, value: 0 },
    ]);
    const fingerprint = { service: 'fingerprint' };
    for (const name of [`${DURATION}_count`, `${DURATION}_sum`]) {
      expect(value(name, fingerprint)).toBe(before.value(name, fingerprint));
    }
    expect(value('device_trust_fingerprint_calls_total')).toBe(20);
    expect(value('device_trust_errors_total', { code: 'UPSTREAM_UNAVAILABLE' })).toBe(25);
    expect(operationsOf(app).at(-1)).toMatchObject({ upstreamCalls: 0, upstreamMs: 0 });
  });

  test('shows as closed when the upstream is well again, and says both once, however long it takes', async () => {
    let well = false;
    const { app } = await startAgainst((exchange) =>
      well ? answer(200, JSON.stringify(ANDROID))(exchange) : answer(503, '')(exchange),
    );
    await send(app, { query: aboutTokens(FAILING) });
    const open = async () => (await readMetrics(app)).value('device_trust_upstream_breaker_open');
    expect(await open()).toBe(1);
    const ask = () => send(app, { query: aboutTokens(['one']) });
    // Long enough for two probes that fail.
    for (let round = 0; round < 12; round += 1) await ask().then(() => new Promise((done) => setTimeout(done, 200)));
    expect(await open()).toBe(1);
    well = true;
    await expect.poll(() => ask().then(open), { timeout: 3_000, interval: 100 }).toBe(0);
    const said = alarmsOf(app).filter(({ breaker }) => breaker);
    expect(said).toMatchObject([
      { service: 'fingerprint', region: 'GLB', breaker: 'open', msg: 'circuit breaker is open' },
      { service: 'fingerprint', region: 'GLB', breaker: 'closed', msg: 'circuit breaker is closed' },
    ]);
  }, 15_000);
});

describe('the same token, asked about again and again', () => {
  test('is many lookups and one call', async () => {
    const app = await startSandboxed();
    await send(app, { query: aboutTokens(Array(10).fill('sandbox:web')) });
    const { value } = await readMetrics(app);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(10);
    expect(value('device_trust_fingerprint_calls_total')).toBe(1);
  });

  test('in references as well; in another operation it is another call', async () => {
    const app = await startSandboxed();
    const references = Array(10).fill({ __typename: 'DeviceFingerprint', token: 'sandbox:web' });
    for (let round = 0; round < 2; round += 1) {
      await send(app, { query: ENTITIES_QUERY, variables: { representations: references } });
    }
    const { value } = await readMetrics(app);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(20);
    expect(value('device_trust_fingerprint_calls_total')).toBe(2);
  });

  test('a captcha is neither', async () => {
    const { app } = await startAgainst(answer(200, JSON.stringify(PASS)));
    await send(app, captcha);
    const { value } = await readMetrics(app);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(0);
    expect(value('device_trust_fingerprint_calls_total')).toBe(0);
  });
});
