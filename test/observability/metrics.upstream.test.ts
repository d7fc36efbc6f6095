import { describe, expect, test } from 'vitest';
import { ANDROID, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY } from '../support/graphql.ts';
import { answer, type Behaviour, hang, reset } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { operationsOf, queryForTokens, send, startAgainst, startSandboxed } from './support.ts';

/** The metrics of upstream calls and queues. */

const DURATION = 'device_trust_upstream_duration_seconds';
const input = { lotNumber: LOT_NUMBER, captchaOutput: 'o', passToken: 'p', genTime: '1' };
const captcha = { query: CAPTCHA_MUTATION, variables: { input } };
const times = (count: number) => Array.from({ length: count }, (_, index) => `token-${index}`);

describe('an upstream call', () => {
  test.each<[string, string, Behaviour]>([
    ['ok', 'a response as documented', answer(200, JSON.stringify(ANDROID))],
    ['ok', 'a response that is not as documented', answer(200, '{}')],
    ['http_4xx', 'a refusal', answer(403, '{}')],
    ['http_5xx', 'a server error', answer(502, '<html>')],
    ['UPSTREAM_UNAVAILABLE', 'a reset connection', reset],
    ['UPSTREAM_TIMEOUT', 'no response', hang],
    ['UPSTREAM_PROTOCOL_ERROR', 'a response that is too large', answer(200, ' '.repeat(300_000))],
  ])('counts as %s for %s', async (outcome, _what, behave) => {
    const deadline = behave === hang ? 250 : 10_000;
    const { app } = await startAgainst(behave, { fingerprintTimeoutMs: deadline, captchaTimeoutMs: deadline });
    await send(app, { query: queryForTokens(['a']) });
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

  test('counts as CANCELLED when the client disconnects', async () => {
    const { app, upstream } = await startAgainst(hang);
    const caller = new AbortController();
    const asked = send(app, { query: queryForTokens(['a']) }, {}, caller.signal);
    await expect.poll(() => upstream.requests).toBe(1);
    caller.abort();
    await expect(asked).rejects.toThrow();
    const cancelled = async () => (await readMetrics(app)).value(`${DURATION}_count`, { outcome: 'CANCELLED' });
    await expect.poll(cancelled).toBe(1);
  });

  test('is in flight or queued until its response, in its service and region', async () => {
    const { app } = await startAgainst(hang, {
      fingerprintTimeoutMs: 2_000,
      captchaTimeoutMs: 2_000,
      upstreamMaxInFlight: 3,
      upstreamMaxQueue: 2,
    });
    const asked = [
      send(app, { query: queryForTokens(times(5)) }),
      send(app, { query: `{ deviceFingerprint(token: "a", publicKey: "pk_sandbox_eu") { __typename } }` }),
      send(app, captcha),
    ];
    const GLB = { service: 'fingerprint', region: 'GLB' };
    const stateOfPolicy = async () => {
      const { value } = await readMetrics(app);
      return ['in_flight', 'queued'].map((what) => value(`device_trust_upstream_${what}`, GLB));
    };
    await expect.poll(stateOfPolicy, { interval: 20 }).toEqual([3, 2]);
    const { samples } = await readMetrics(app);
    expect(samples.filter(({ name }) => name === 'device_trust_upstream_in_flight')).toMatchObject([
      { labels: GLB, value: 3 },
      { labels: { service: 'fingerprint', region: 'EU' }, value: 1 },
      { labels: { service: 'captcha', region: 'GLB' }, value: 1 },
    ]);
    await Promise.all(asked);
    await expect.poll(stateOfPolicy).toEqual([0, 0]);
  });

  test('does not count if it was not sent: because the queue was full, or because the client disconnected before', async () => {
    const { app, upstream } = await startAgainst(hang, { upstreamMaxInFlight: 2, upstreamMaxQueue: 1 });
    const caller = new AbortController();
    const asked = send(app, { query: queryForTokens(times(5)) }, {}, caller.signal);
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

describe('the same token several times', () => {
  test('is many lookups and one call in one operation', async () => {
    const app = await startSandboxed();
    await send(app, { query: queryForTokens(Array(10).fill('sandbox:web')) });
    const { value } = await readMetrics(app);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(10);
    expect(value('device_trust_fingerprint_calls_total')).toBe(1);
  });

  test('is one call for the references of one operation, and another call in the next operation', async () => {
    const app = await startSandboxed();
    const references = Array(10).fill({ __typename: 'DeviceFingerprint', token: 'sandbox:web' });
    for (let round = 0; round < 2; round += 1) {
      await send(app, { query: ENTITIES_QUERY, variables: { representations: references } });
    }
    const { value } = await readMetrics(app);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(20);
    expect(value('device_trust_fingerprint_calls_total')).toBe(2);
  });

  test('is counted apart from captchas, which are neither lookups nor calls here', async () => {
    const { app } = await startAgainst(answer(200, JSON.stringify(PASS)));
    await send(app, captcha);
    const { value } = await readMetrics(app);
    expect(value('device_trust_fingerprint_lookups_total')).toBe(0);
    expect(value('device_trust_fingerprint_calls_total')).toBe(0);
  });
});
