import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, hang, startHostile } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { INPUT } from './support.ts';

/** What a captcha without a verdict becomes, by what the probes of its captcha id show. */

const FIRST = 'a'.repeat(32);
const SECOND = 'b'.repeat(32);
const down = answer(503, '');
const exception = (code: string) =>
  answer(200, JSON.stringify({ status: 'error', code, msg: 'message', desc: { type: 'defined error' } }));

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

describe('an outage that probes confirm', () => {
  test('is for its own captcha id only', async () => {
    const { upstreamIs, verify } = await start();
    upstreamIs.probe = (exchange) => (exchange.request.includes(SECOND) ? answersProbes : down)(exchange);
    const [ofFirst, ofSecond] = await Promise.all([verify(FIRST), verify(SECOND)]);
    expect(ofFirst).toMatchObject({ proceed: true });
    expect(ofSecond).toMatchObject({ proceed: false });
  });

  test('is not looked for under the other policies, and nobody waits', async () => {
    const always = await start({ captchaFailOpen: 'always' });
    // Silence alone would take longer than this.
    always.upstreamIs.probe = hang;
    const elapsed = startStopwatch();
    expect(await always.verify()).toMatchObject({ proceed: true });
    expect(elapsed()).toBeLessThan(1_300);
    const never = await start({ captchaFailOpen: 'never' });
    Object.assign(never.upstreamIs, { probe: down });
    for (let round = 0; round < 3; round += 1) expect(await never.verify()).toMatchObject({ proceed: false });
  });
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
});

describe('a captcha id that has never worked is a mistake of the configuration, and no outage', () => {
  test('although the service is well for another id', async () => {
    // For the first id, so that the process becomes ready.
    const { upstreamIs, verify } = await start({ upstreamCheck: 'first', captchaTimeoutMs: 500 }, (exchange) =>
      (exchange.request.includes(SECOND) ? hang : answersProbes)(exchange),
    );
    upstreamIs.call = hang;
    for (let round = 0; round < 3; round += 1)
      expect(await verify(SECOND)).toMatchObject({ proceed: false, cause: 'CONFIGURATION' });
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
