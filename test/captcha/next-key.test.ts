import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { sign } from '../conformance/captcha-http.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { type Answer, answerAsDocumented, type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { FAIL, INPUT, PASS } from './support.ts';

/** A captcha key is replaced at a service that accepts one key at a time (section 5). */

const [OLD, NEW] = ['old-key', 'new-key'];
const CAPTCHA = { captchaId: 'a'.repeat(32), captchaKey: OLD, nextCaptchaKey: NEW, region: 'GLB' } as const;
/** The failure of section 7.1. */
const REFUSED = { ...FAIL, reason: 'illegal sign_token' };

async function start(nextCaptchaKey?: string) {
  let accepted = OLD;
  // This service reads a lot number without the white space around it.
  const isSigned = ({ url, body }: ReceivedRequest) => {
    const { lot_number = '', sign_token } = Object.fromEntries(new URLSearchParams(body));
    return !url.startsWith('/validate') || sign_token === sign(lot_number.trim(), accepted);
  };
  const refuse = (body: string) => {
    const lot_number = new URLSearchParams(body).get('lot_number');
    return { ...REFUSED, captcha_args: { ...REFUSED.captcha_args, lot_number } };
  };
  const answer: Answer = (request, response) =>
    sendJson(response, 200, isSigned(request) ? PASS : refuse(request.body));
  const answerProbe: Answer = (request, response) =>
    (isSigned(request) ? answerAsDocumented : answer)(request, response);
  const upstream = await untilEnd(startUpstream(answer, answerProbe));
  const captchaConfigurations = [{ ...CAPTCHA, nextCaptchaKey }];
  const app = await untilEnd(startInLiveMode(upstream.url, { captchaConfigurations }));
  const validate = async (input = INPUT) =>
    (await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input })).data.validateCaptcha;
  return { app, upstream, validate, accept: (key: string) => (accepted = key) };
}

test('a captcha key is rotated by nextCaptchaKey without a refusal, and then each captcha takes one call again', async () => {
  const { app, upstream, validate, accept } = await start(NEW);
  for (const key of [OLD, NEW, OLD, NEW]) {
    accept(key);
    const outcomes = await Promise.all(times(20, () => validate()));
    expect(outcomes).toMatchObject(times(20, () => ({ __typename: 'CaptchaPassed', proceed: true })));
    const callsOfOne = async () => {
      upstream.received.length = 0;
      expect(await validate()).toMatchObject({ proceed: true });
      return upstream.received.length;
    };
    // Only a probe switches the key.
    await expect.poll(callsOfOne).toBe(1);
  }
  const { value } = await readMetrics(app);
  expect(value('device_trust_upstream_health', { service: 'captcha', state: 'well' })).toBe(1);
  expect(app.logged()).not.toContain(NEW);
});

test('a captcha key is switched by no refusal that a client can provoke', async () => {
  const { upstream, validate } = await start(NEW);
  for (let round = 0; round < 3; round += 1) {
    const refused = await validate({ ...INPUT, lotNumber: ' lot-1' });
    expect(refused).toMatchObject({ __typename: 'CaptchaFailed', category: 'ILLEGAL_SIGN_TOKEN' });
    upstream.received.length = 0;
    expect(await validate()).toMatchObject({ __typename: 'CaptchaPassed' });
    expect(upstream.received).toHaveLength(1);
  }
});

test('a refused signature is tried once with the other captcha key, and not at all with only one key', async () => {
  for (const [next, calls] of [
    [undefined, 1],
    [NEW, 2],
  ] as const) {
    const { upstream, validate, accept } = await start(next);
    accept('another-key');
    for (const _ of [1, 2]) {
      upstream.received.length = 0;
      expect(await validate()).toMatchObject({
        __typename: 'CaptchaFailed',
        category: 'ILLEGAL_SIGN_TOKEN',
        proceed: false,
      });
      expect(upstream.received).toHaveLength(calls);
    }
  }
});

test.concurrent.each<[string, (response: ServerResponse) => unknown]>([
  ['gets no answer', (response) => response.destroy()],
  ['gets one when the time for both is over', (response) => setTimeout(() => sendJson(response, 200, PASS), 2_000)],
])('a rejection stands if the call with the other key %s', async (_what, answerSecond) => {
  let calls = 0;
  const answer: Answer = (_request, response) => {
    calls += 1;
    if (calls > 1) answerSecond(response);
    else setTimeout(() => sendJson(response, 200, REFUSED), 2_000);
  };
  const upstream = await untilEnd(startUpstream(answer));
  const overrides = { captchaFailOpen: 'always', captchaTimeoutMs: 3_500 } as const;
  const app = await untilEnd(startInLiveMode(upstream.url, { captchaConfigurations: [CAPTCHA], ...overrides }));
  // On a busy machine the first call can take all of the time, and then there is no second one.
  const verify = async () => {
    calls = 0;
    const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
    return calls === 2 && data.validateCaptcha;
  };
  expect(await vi.waitUntil(verify, { timeout: 60_000 })).toMatchObject({
    __typename: 'CaptchaFailed',
    proceed: false,
  });
});
