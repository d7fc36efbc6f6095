import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { ANDROID, PASS } from '../faults/documented.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { json, request } from '../support/requests.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { LIVE } from './environments.ts';

/**
 * Nothing confidential leaves the real process except to the upstreams: no answer and no log line contains it, whatever goes
 * wrong. The upstream answers as requested in `eventType` or `captchaOutput`, and repeats in its errors what it was sent.
 */

const SECRETS = {
  secret: 'sk_canary_4b1d',
  captchaKey: 'key_canary_c06e',
  token: 'tok_canary_9f8e7d',
  phone: '13800138000',
  email: 'ada.canary@mail.example',
  passToken: 'pass_canary_77aa',
  lotNumber: 'lot_canary_51c3',
};
// What the key makes of the lot number (captcha document, section 5).
const signature = createHmac('sha256', SECRETS.captchaKey).update(SECRETS.lotNumber).digest('hex');

const INVALID = { field: 'device_token', reason: 'Invalid token', type: 'value_error' };
const ARGS = { ...PASS.captcha_args, lot_number: SECRETS.lotNumber };

type Answer = (response: ServerResponse, echo: string) => void;
const status =
  (code: number): Answer =>
  (response, echo) =>
    sendJson(response, code, { code, message: echo, data: { echo } });

const COMMON: Record<string, Answer> = {
  401: status(401),
  403: status(403),
  404: status(404),
  500: status(500),
  'code unlike the status': (response, echo) => sendJson(response, 200, { code: 500, message: echo, data: {} }),
  'a wrong type': (response, echo) =>
    sendJson(response, 200, { ...ANDROID, status: 5, data: { ...ANDROID.data, signals: echo } }),
  HTML: (response, echo) => response.writeHead(502, { 'content-type': 'text/html' }).end(`<p>${echo}</p>`),
  'a redirect': (response, echo) => response.writeHead(302, { location: `/?${encodeURIComponent(echo)}` }).end(),
  'a bad header': (response, echo) => response.socket?.end(`HTTP/1.1 200 OK\r\n${echo.replace(/\s/g, '')}\r\n\r\n`),
  'too large': (response, echo) => response.end(echo.padEnd(300_000)),
  'a reset': (response) => response.socket?.resetAndDestroy(),
  'a hang': () => {},
};
const FINGERPRINT: Record<string, Answer> = {
  ...COMMON,
  judged: (response) => sendJson(response, 200, ANDROID),
  rejected: (response) =>
    sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors: [INVALID] } }),
};
const CAPTCHA: Record<string, Answer> = {
  ...COMMON,
  passed: (response) => sendJson(response, 200, { ...PASS, captcha_args: ARGS }),
  failed: (response) =>
    sendJson(response, 200, { ...PASS, result: 'fail', reason: 'illegal sign_token', captcha_args: ARGS }),
  exception: (response, echo) =>
    sendJson(response, 200, { status: 'error', code: '-50101', msg: echo, desc: { type: 't' } }),
  'an unknown exception': (response, echo) =>
    sendJson(response, 200, { status: 'error', code: echo, msg: echo, desc: {} }),
};

const answerAsRequested = ({ url, headers, body }: ReceivedRequest, response: ServerResponse) => {
  const requested = url.startsWith('/validate')
    ? new URLSearchParams(body).get('captcha_output')
    : JSON.parse(body).event_type;
  const answer = (url.startsWith('/validate') ? CAPTCHA : FINGERPRINT)[requested ?? ''];
  answer?.(response, `${headers.authorization} ${decodeURIComponent(body)}`);
};

const answers: string[] = [];
const upstream = await startUpstream((request, response) => answerAsRequested(request, response));
const child = startProcess(MAIN, {
  ...LIVE,
  FINGERPRINT_APPLICATIONS: JSON.stringify([{ publicKey: 'pk_shop', secret: SECRETS.secret, region: 'NA' }]),
  FINGERPRINT_URL_NA: upstream.url,
  FINGERPRINT_TIMEOUT_MS: '1000',
  CAPTCHA_CONFIGURATIONS: JSON.stringify([{ captchaId: 'a'.repeat(32), captchaKey: SECRETS.captchaKey, region: 'EU' }]),
  CAPTCHA_URL_EU: upstream.url,
  CAPTCHA_TIMEOUT_MS: '1000',
});
afterAll(() => Promise.all([child.stop(), upstream.stop()]));
const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);

async function send(body: unknown, init: RequestInit = {}, url = graphqlUrl): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await request(url, { ...json(text), ...init });
  answers.push(`${[...answer.headers].join('\n')}\n${answer.text}`);
  return answer.text;
}

const { token, phone, email, passToken, lotNumber } = SECRETS;
const metadata = { phoneNum: phone, email, additional: { note: `${phone} ${email}` } };
const input = { lotNumber, passToken, captchaOutput: '', genTime: '1' };
const MUTATION = `mutation ($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) {
    __typename
    ... on CaptchaPassed { details { usedType scene referer } }
    ... on CaptchaFailed { reason category }
    ... on CaptchaIndeterminate { cause type message }
  }
}`;

const ENTITIES = 'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }';
/** Requests that never reach an upstream. */
const REFUSED: readonly (readonly [body: unknown, init?: RequestInit])[] = [
  [{ query: FINGERPRINT_QUERY, variables: { token: [token], metadata: phone } }],
  [{ query: FINGERPRINT_QUERY, variables: { token, metadata: { phoneNum: Number(phone) } } }],
  [{ query: MUTATION, variables: { input: { ...input, pass_token: passToken } } }],
  [{ query: MUTATION, variables: { input: { ...input, captchaOutput: 'o', genTime: phone + email } } }],
  [{ query: `{ deviceFingerprint(token: ["${token}"]) { __typename } }` }],
  [{ query: `{ deviceFingerprint(token: "${token}) { __typename } }` }],
  [{ query: 'query A { __typename }', operationName: token }],
  [{ query: ENTITIES, variables: { r: [{ __typename: email, id: token }] } }],
  [`{"query":"${token}`],
  [`"${token.padEnd(200_000)}"`],
  [token, { headers: { 'content-type': 'text/plain' } }],
];

test('no confidential value comes back or is logged, whatever the upstreams answer and whatever is asked', async () => {
  for (const eventType of Object.keys(FINGERPRINT)) {
    await send({ query: FINGERPRINT_QUERY, variables: { token, metadata, eventType } });
    expect(upstream.received.at(-1)?.headers.authorization).toBe(`Bearer ${SECRETS.secret}`);
    for (const value of [token, phone, email, eventType]) expect(upstream.received.at(-1)?.body).toContain(value);
  }
  for (const captchaOutput of Object.keys(CAPTCHA)) {
    await send({ query: MUTATION, variables: { input: { ...input, captchaOutput } } });
    const form = Object.fromEntries(new URLSearchParams(upstream.received.at(-1)?.body));
    expect(form).toMatchObject({ lot_number: lotNumber, pass_token: passToken, sign_token: signature });
  }
  for (const [body, init] of REFUSED) expect(await send(body, init)).toContain('"errors"');

  // A client that disconnects.
  const before = upstream.received.length;
  const caller = new AbortController();
  const hanging = { query: FINGERPRINT_QUERY, variables: { token, metadata, eventType: 'a hang' } };
  const gone = send(hanging, { signal: caller.signal }).catch(() => {});
  await expect.poll(() => upstream.received.length).toBeGreaterThan(before);
  caller.abort();
  await gone;

  // A token in the URL.
  const search = `?query=${encodeURIComponent(`{ deviceFingerprint(token: "${token}") { __typename } }`)}`;
  await send(undefined, { method: 'GET', body: null }, graphqlUrl + search);
  await send('{}', {}, `${graphqlUrl}/${token}`);

  expect(await child.end('SIGTERM')).toBe(0);
  expect(answers.length).toBeGreaterThan(40);
  // The log was in use: our own credentials were refused, and the upstream failed.
  expect(child.stdout()).toContain('UPSTREAM_REJECTED');
  expect(child.stdout()).toContain('UPSTREAM_TIMEOUT');
  const everything = [child.stdout(), child.stderr(), ...answers].join('\n');
  for (const value of [...Object.values(SECRETS), signature]) {
    for (const form of [value, encodeURIComponent(value), Buffer.from(value).toString('base64')]) {
      expect(everything).not.toContain(form);
    }
  }
});
