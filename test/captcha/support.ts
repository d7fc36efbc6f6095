import type { ServerResponse } from 'node:http';
import type { Json } from '../faults/documented.ts';
import * as documented from '../faults/documented.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** A challenge for upstreams that do not verify it. */
export const INPUT = { lotNumber: 'lot-1', captchaOutput: 'output-1', passToken: 'pass-1', genTime: '1700000000' };

/** The details of a documented pass for `INPUT` (2.3, 2.4), and the whole pass. */
export const ARGS = { ...documented.PASS.captcha_args, lot_number: 'lot-1' };
export const PASS = { ...documented.PASS, captcha_args: ARGS };

/** The pass with another value of this detail, or without it. Throws if a pass has no such detail. */
export const passWith = (detail: string, value?: Json): object =>
  JSON.parse(documented.altered(PASS, `captcha_args.${detail}`, value));

/** A documented failure (2.3), and an exception (7.2). */
export const FAIL = { ...documented.FAIL, captcha_args: { ...documented.FAIL.captcha_args, lot_number: 'lot-1' } };
export const EXCEPTION = { status: 'error', code: '-50003', msg: 'illegal verify', desc: { type: 'defined error' } };

/** One app for each policy, with one upstream for all of them whose response the test sets. */
export async function startWithAllPolicies() {
  let answer = (response: ServerResponse) => sendJson(response, 500, {});
  const upstream = await startUpstream((_request, response) => answer(response));
  const apps = {
    faults: await startInLiveMode(upstream.url),
    always: await startInLiveMode(upstream.url, { captchaFailOpen: 'always' }),
    never: await startInLiveMode(upstream.url, { captchaFailOpen: 'never' }),
  };
  return {
    apps,
    upstream,
    answerWith(body: unknown, status = 200) {
      answer = (response) => sendJson(response, status, body);
    },
    /** The outcome, or the errors. */
    async validate(input: Record<string, unknown> = INPUT, policy: keyof typeof apps = 'faults', headers = {}) {
      const { data, errors } = await ask(apps[policy].graphqlUrl, CAPTCHA_MUTATION, { input }, headers);
      return errors ?? data.validateCaptcha;
    },
    stop: () => Promise.all([...Object.values(apps).map((app) => app.stop()), upstream.stop()]),
  };
}
