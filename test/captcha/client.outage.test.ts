import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { ATTESTING, TO_FIRST, times, untilDown } from '../faults/captchas.ts';
import { verify as verifyFor } from '../faults/support.ts';
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
  test('lets everybody proceed with `always`, but attests no more than people came, and nobody with `never`', async () => {
    for (const [captchaFailOpen, proceeding, attested] of [
      ['always', 30, 10],
      ['never', 0, 0],
    ] as const) {
      const { app, upstreamIs, verify } = await start({ ...ATTESTING, captchaFailOpen });
      upstreamIs.probe = down;
      await untilDown(app, async () => expect((await verify()).proceed).toBe(proceeding > 0));
      const outcomes = await Promise.all(times(30, () => verifyFor(app, TO_FIRST)));
      expect(outcomes.filter(({ proceed }) => proceed)).toHaveLength(proceeding);
      // The call that found the outage may have taken one.
      expect([attested, Math.max(0, attested - 1)]).toContain(outcomes.filter(({ attestation }) => attestation).length);
    }
  });

  test('is waited for by nobody', async () => {
    const { upstreamIs, verify } = await start();
    upstreamIs.probe = hang;
    const elapsed = startStopwatch();
    expect(await verify()).toMatchObject({ cause: 'TRANSPORT', proceed: false });
    expect(elapsed()).toBeLessThan(1_000);
  });
});

test('a captcha id that worked and is now paused lets nobody proceed, not even if it is the default one', async () => {
  const { app, upstreamIs, verify } = await start();
  Object.assign(upstreamIs, { call: exception('-50105'), probe: exception('-50105') });
  const paused = { cause: 'CONFIGURATION', code: '-50105', proceed: false };
  expect(await verify()).toMatchObject(paused);
  await expect.poll(() => app.logged()).toContain('"health":"refused"');
  for (const captchaId of [undefined, FIRST, SECOND]) expect(await verify(captchaId)).toMatchObject(paused);
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
