import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, hang, startHostile } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { INPUT, PASS } from './support.ts';

/** What a captcha without a verdict becomes, by what the probes of its captcha id show. */

const FIRST = 'a'.repeat(32);
const SECOND = 'b'.repeat(32);
const down = answer(503, '');
const passes = answer(200, JSON.stringify(PASS));
const exception = (code: string) =>
  answer(200, JSON.stringify({ status: 'error', code, msg: 'message', desc: { type: 'defined error' } }));

const NEW_CHALLENGE = /Let the person solve a new challenge\.$/;

/** An app, and how its upstream treats probes and calls from now on. */
async function start(overrides: Partial<Config> = {}, atStart: Behaviour = answersProbes) {
  const upstreamIs = { call: down, probe: atStart };
  const upstream = await startHostile((exchange) => upstreamIs.call(exchange), {
    probe: (exchange) => upstreamIs.probe(exchange),
  });
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const app = await startInLiveMode(urls, overrides);
  onTestFinished(app.stop);
  return {
    app,
    upstream,
    upstreamIs,
    /** The outcome, or the errors. */
    verify: async (captchaId?: string) => {
      const { data, errors } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: { ...INPUT, captchaId } });
      return errors ?? data.validateCaptcha;
    },
  };
}

describe('while the probes get their answers', () => {
  test.each<[string, Behaviour, string]>([
    ['an HTTP status of 503', down, 'TRANSPORT'],
    ['an exception of the service', exception('-50000'), 'SERVICE'],
    ['the exception of a paused captcha id', exception('-50105'), 'CONFIGURATION'],
    ['no answer at all', hang, 'TRANSPORT'],
  ])('%s does not let anybody proceed, and the outcome asks for a new challenge', async (_what, call, cause) => {
    const { upstreamIs, verify } = await start({ captchaTimeoutMs: 3_000 });
    upstreamIs.call = call;
    const outcomes = await Promise.all([verify(), verify(FIRST), verify(SECOND)]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ proceed: false, cause });
    if (cause !== 'CONFIGURATION') expect(outcomes[0]?.message).toMatch(NEW_CHALLENGE);
  });
});

describe('an outage that probes confirm', () => {
  test.each<[string, Behaviour]>([
    ['fails', down],
    ['meets silence', hang],
  ])('lets people proceed within 3 s if everything %s, and then no call is sent and nobody waits', async (_how, is) => {
    const { upstream, upstreamIs, verify } = await start();
    Object.assign(upstreamIs, { call: is, probe: is });
    const first = startStopwatch();
    expect(await verify()).toMatchObject({ proceed: true, cause: 'TRANSPORT', code: null });
    expect(first()).toBeLessThan(is === hang ? 5_500 : 3_000);
    const sent = upstream.requests;
    const others = startStopwatch();
    for (let round = 0; round < 10; round += 1) expect(await verify()).toMatchObject({ proceed: true });
    expect(others()).toBeLessThan(500);
    expect(upstream.requests).toBe(sent);
  });

  test('is known within 3 s of the first call that hangs, although that one waits for its whole deadline', async () => {
    const { upstreamIs, verify } = await start();
    Object.assign(upstreamIs, { call: hang, probe: hang });
    const first = verify();
    const known = startStopwatch();
    // The stopwatch leaves out the time in which a busy machine did not let this process run.
    await expect.poll(() => known() >= 3_000, { timeout: 10_000 }).toBe(true);
    const elapsed = startStopwatch();
    expect(await verify()).toMatchObject({ proceed: true, cause: 'TRANSPORT' });
    expect(elapsed()).toBeLessThan(500);
    expect(await first).toMatchObject({ proceed: true });
  });

  test('ends with the first answer of a probe: the next person is verified', async () => {
    const { upstreamIs, verify } = await start();
    Object.assign(upstreamIs, { call: down, probe: down });
    expect(await verify()).toMatchObject({ proceed: true });
    Object.assign(upstreamIs, { call: passes, probe: answersProbes });
    await expect
      .poll(() => verify(), { timeout: 10_000, interval: 100 })
      .toMatchObject({ __typename: 'CaptchaPassed' });
  });

  test('is for its own captcha id only', async () => {
    const { upstreamIs, verify } = await start();
    upstreamIs.probe = (exchange) => (exchange.request.includes(SECOND) ? answersProbes : down)(exchange);
    const [ofFirst, ofSecond] = await Promise.all([verify(FIRST), verify(SECOND)]);
    expect(ofFirst).toMatchObject({ proceed: true });
    expect(ofSecond).toMatchObject({ proceed: false });
  });

  test('is not looked for under the other policies, and nobody waits', async () => {
    const { verify } = await start({ captchaFailOpen: 'always' }, answersProbes);
    const elapsed = startStopwatch();
    expect(await verify()).toMatchObject({ proceed: true });
    expect(elapsed()).toBeLessThan(300);
    const never = await start({ captchaFailOpen: 'never' });
    Object.assign(never.upstreamIs, { probe: down });
    for (let round = 0; round < 3; round += 1) expect(await never.verify()).toMatchObject({ proceed: false });
  });
});

test('if probes show nothing, the outcome comes within the deadline and does not proceed', async () => {
  const { upstreamIs, verify } = await start({ captchaTimeoutMs: 1_500 });
  Object.assign(upstreamIs, { probe: answer(429, '') });
  const elapsed = startStopwatch();
  expect(await verify()).toMatchObject({ proceed: false, cause: 'TRANSPORT', message: NEW_CHALLENGE });
  expect(elapsed()).toBeLessThan(2_000);
});

describe('a captcha id that worked and is now paused', () => {
  test('lets people proceed if it is the default one, and only then', async () => {
    const { upstreamIs, verify } = await start();
    Object.assign(upstreamIs, { call: exception('-50105'), probe: exception('-50105') });
    const paused = { cause: 'CONFIGURATION', code: '-50105' };
    expect(await verify()).toMatchObject({ ...paused, proceed: true });
    expect(await verify(FIRST)).toMatchObject({ ...paused, proceed: true });
    // The client chooses whether to name another id.
    expect(await verify(SECOND)).toMatchObject({ ...paused, proceed: false });
  });

  test('does not, if the probe is refused in another way', async () => {
    const { upstreamIs, verify } = await start();
    Object.assign(upstreamIs, { call: exception('-50105'), probe: exception('-50104') });
    expect(await verify()).toMatchObject({ cause: 'CONFIGURATION', code: '-50105', proceed: false });
  });
});

describe('a captcha id that has never worked is a mistake of the configuration, and no outage', () => {
  test.each<[string, Behaviour]>([
    ['fails', down],
    ['meets silence', hang],
    ['is refused', exception('-50104')],
  ])('if everything %s', async (_how, is) => {
    const { upstreamIs, verify } = await start({ upstreamCheck: 'first', captchaTimeoutMs: 1_000 }, (exchange) =>
      // The service is well for the first id, so that the process becomes ready.
      (exchange.request.includes(SECOND) ? is : answersProbes)(exchange),
    );
    upstreamIs.call = is;
    for (let round = 0; round < 3; round += 1) {
      expect(await verify(SECOND)).toMatchObject({ proceed: false, cause: 'CONFIGURATION' });
    }
  });

  test('also if it was not checked at the start', async () => {
    const { verify } = await start({ upstreamCheck: 'off' }, down);
    expect(await verify()).toMatchObject({
      proceed: false,
      cause: 'CONFIGURATION',
      message: expect.stringMatching(/The operator of this subgraph has to check its configuration\.$/),
    });
  });
});

test('a client that disconnects while its outcome waits for a probe leaves no wait behind', async () => {
  const { app, upstream, upstreamIs } = await start();
  upstreamIs.probe = hang;
  const body = JSON.stringify({ query: CAPTCHA_MUTATION, variables: { input: INPUT } });
  const headers = { 'content-type': 'application/json' };
  const request = fetch(app.graphqlUrl, { method: 'POST', headers, body, signal: AbortSignal.timeout(500) });
  await expect(request).rejects.toThrow();
  expect(upstream.requests).toBe(1);
  await expect.poll(() => app.logged(), { timeout: 1_000 }).toContain('CANCELLED');
});
