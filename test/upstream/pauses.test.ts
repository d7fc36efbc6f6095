import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { retryAfterMs } from '../../src/upstream/transport.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { type Answer, answerAsDocumented, startUpstream } from '../support/upstream.ts';
import { answerWell } from './support.ts';

/**
 * What follows when a service answers 429 to a call, which a client can provoke, and to our probe: then it gets one call a second for
 * that account until the pause is over, or a probe is answered.
 */

const CLIENT = { __typename: 'CaptchaIndeterminate', proceed: false, cause: 'CLIENT' };
const UNAVAILABLE = [{ extensions: { code: 'UPSTREAM_UNAVAILABLE', retryable: true } }];

/** No probe of the start has shown that the service answers. */
const UNCHECKED = { upstreamCheck: 'off' } as const;

/** An app whose upstream answers 429 to calls until a test says otherwise, and to probes. */
async function start(headers: Readonly<Record<string, string | string[]>>) {
  let isLimited = true;
  let areProbesLimited = true;
  let limitedProbes = 0;
  const limit = (response: ServerResponse) => void response.writeHead(429, headers).end('too many requests');
  const upstream = await untilEnd(
    startUpstream(
      (request, response) => (isLimited ? limit(response) : answerWell(request, response)),
      (probe, response) => {
        limitedProbes += Number(areProbesLimited);
        return areProbesLimited ? limit(response) : answerAsDocumented(probe, response);
      },
    ),
  );
  const app = await untilEnd(startInLiveMode(upstream.url, UNCHECKED));
  return {
    app,
    recover: () => {
      isLimited = false;
    },
    answerProbes: () => {
      areProbesLimited = false;
    },
    received: () => upstream.received.length,
    /** Waits until a second probe was sent, so that the first one has got its 429. */
    untilPaused: () => expect.poll(() => limitedProbes, { interval: 10 }).toBeGreaterThan(1),
    judge: (publicKey?: string) => ask(app.graphqlUrl, queryForTokens(['t'], publicKey)),
    verify: (captchaId?: string) => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: { ...CAPTCHA_INPUT, captchaId } }),
  };
}

test('a 429 pauses its application, and no other account; a call that is not sent does not count', async () => {
  const { app, received, recover, judge, verify, untilPaused } = await start({ 'retry-after': '30' });
  expect((await judge()).errors).toMatchObject(UNAVAILABLE);
  await untilPaused();
  recover();
  expect((await judge()).errors).toMatchObject(UNAVAILABLE);
  expect(received()).toBe(1);
  expect(app.logged()).toContain('account is paused');
  expect((await judge('pk_sandbox_eu')).data).toEqual({ a0: { __typename: 'DeviceFingerprint' } });
  expect((await verify()).data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
  const { samples } = await readMetrics(app);
  const counts = samples.filter(({ name }) => name === 'device_trust_upstream_duration_seconds_count');
  expect(counts.map(({ labels, value }) => [labels['service'], labels['region'], labels['outcome'], value])).toEqual([
    ['fingerprint', 'GLB', 'http_429', 1],
    ['fingerprint', 'EU', 'ok', 1],
    ['captcha', 'GLB', 'ok', 1],
  ]);
});

// Twice is one too many, and nobody may proceed because of it.
test.each([['30'], [['30', '40']]])('a 429 with %j pauses the captcha id, and none proceeds', async (retryAfter) => {
  const { received, recover, verify, untilPaused } = await start({ 'retry-after': retryAfter });
  expect((await verify()).data.validateCaptcha).toMatchObject(CLIENT);
  await untilPaused();
  recover();
  expect((await verify()).data.validateCaptcha).toMatchObject(CLIENT);
  expect(received()).toBe(1);
  expect((await verify('b'.repeat(32))).data.validateCaptcha).toMatchObject({ proceed: true });
});

test('an answered probe ends the pause after a 429, although calls still get a 429', async () => {
  const { answerProbes, received, recover, verify } = await start({ 'retry-after': '60' });
  await verify();
  answerProbes();
  // The next probe follows within a second. From then on calls are sent again.
  const receivedAfterOne = () => verify().then(received);
  await expect.poll(receivedAfterOne, { interval: 10, timeout: 10_000 }).toBeGreaterThan(5);
  recover();
  expect((await verify()).data.validateCaptcha).toMatchObject({ proceed: true });
});

test('a 429 without Retry-After pauses the account for a second', async () => {
  const { received, recover, judge, untilPaused } = await start({});
  const pausedAt = performance.now();
  expect((await judge()).errors).toMatchObject(UNAVAILABLE);
  await untilPaused();
  recover();
  await expect.poll(async () => (await judge()).errors, { timeout: 10_000 }).toBeUndefined();
  expect(performance.now() - pausedAt).toBeGreaterThan(900);
  expect(received()).toBe(2);
});

test('a 429 pauses nobody if our probe is answered', async () => {
  const { answerProbes, recover, judge } = await start({ 'retry-after': '60' });
  answerProbes();
  expect((await judge()).errors).toMatchObject(UNAVAILABLE);
  recover();
  for (let call = 0; call < 20; call += 1) expect((await judge()).errors).toBeUndefined();
});

test('calls that waited in the queue when the 429 came are not sent either', async () => {
  const limit: Answer = (_request, response) =>
    void setTimeout(() => response.writeHead(429, { 'retry-after': '30' }).end(), 50);
  const upstream = await untilEnd(startUpstream(limit, limit));
  const app = await untilEnd(startInLiveMode(upstream.url, { ...UNCHECKED, upstreamMaxInFlight: 3 }));
  const { errors } = await ask(app.graphqlUrl, queryForTokens(times(30, String)));
  const codes = new Set(errors?.map(({ extensions }) => extensions.code));
  // Only as many calls wait as are under way.
  expect(codes).toEqual(new Set(['UPSTREAM_UNAVAILABLE', 'OVERLOADED']));
  // Until the probe has its answer as well, which takes 50 ms, further calls are sent.
  expect(upstream.received.length).toBeLessThan(15);
  expect(app.logged().includes('The service is down')).toBe(false);
});

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1_000);

test.each<[string, string | undefined, number]>([
  ['seconds', '7', 7_000],
  ['seconds within white space', ' 7 ', 7_000],
  ['more than a minute', '3600', 60_000],
  ['a number without bounds', '9'.repeat(400), 60_000],
  ['zero', '0', 1_000],
  ['nothing', undefined, 1_000],
  ['a fraction', '7.5', 1_000],
  ['a date that does not exist', 'Mon, 99 Foo 2026 25:00:00 GMT', 1_000],
  ['a date in the past', 'Sun, 06 Nov 1994 08:49:37 GMT', 1_000],
  ['a date in the past, in the form of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', 1_000],
  ['a date far away', inSeconds(86_400).toUTCString(), 60_000],
])('Retry-After as %s', (_what, text, ms) => {
  expect(retryAfterMs(text)).toBe(ms);
});

test('Retry-After as an HTTP date is the time until then', () => {
  const ms = retryAfterMs(inSeconds(30).toUTCString());
  expect(ms).toBeGreaterThan(25_000);
  expect(ms).toBeLessThanOrEqual(30_000);
});
