import type { ServerResponse } from 'node:http';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** A challenge that says nothing to anyone, for upstreams that answer as they are told. */
export const INPUT = { lotNumber: 'lot-1', captchaOutput: 'output-1', passToken: 'pass-1', genTime: '1700000000' };

/** One app for each policy, before one upstream whose answer the test sets. */
export async function startWithAllPolicies() {
  let answer = (response: ServerResponse) => sendJson(response, 500, {});
  const upstream = await startUpstream((_request, response) => answer(response));
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const apps = {
    faults: await startInLiveMode(urls),
    always: await startInLiveMode(urls, { captchaFailOpen: 'always' }),
    never: await startInLiveMode(urls, { captchaFailOpen: 'never' }),
  };
  return {
    apps,
    upstream,
    answerWith(body: unknown, status = 200) {
      answer = (response) => sendJson(response, status, body);
    },
    /** Each character is one byte, so that `\u00ff` is one that UTF-8 does not have. */
    answerWithBytes(body: string, headers: Readonly<Record<string, string>> = {}) {
      const all = { 'content-type': 'application/json', ...headers };
      answer = (response) => void response.writeHead(200, all).end(body, 'latin1');
    },
    /** The outcome, or the errors. */
    async validate(input: Record<string, unknown> = INPUT, policy: keyof typeof apps = 'faults') {
      const { data, errors } = await ask(apps[policy].graphqlUrl, CAPTCHA_MUTATION, { input });
      return errors ?? data.validateCaptcha;
    },
    stop: () => Promise.all([...Object.values(apps).map((app) => app.stop()), upstream.stop()]),
  };
}
