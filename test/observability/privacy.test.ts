import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { ANDROID, exception, FAIL, PASS, WEB } from '../faults/documented.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY, queryForTokens } from '../support/graphql.ts';
import { json, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { startReceiver } from './otlp-receiver.ts';
import { send } from './support.ts';

/**
 * Logs, metrics and traces contain no secret and nothing that a caller or an upstream sent, for any fault; and
 * no error repeats what an upstream says.
 */

const CANARIES = {
  token: 'tok_canary_9f8e7d',
  phone: '13800138000',
  email: 'ada.canary@mail.example',
  lotNumber: 'lot_canary_51c3',
  captchaOutput: 'out_canary_a1b2',
  passToken: 'pass_canary_77aa',
  genTime: '20493817261',
  publicKey: 'pk_canary_unknown',
  captchaId: 'id_canary_unknown',
  header: 'hdr_canary_0042',
  address: '203.0.113.199',
  secret: 'sk_canary_4b1d',
  captchaKey: 'key_canary_c06e',
  routerSecret: 'router_canary_of_16_or_more',
  logHashKey: 'hash_canary_of_16_or_more',
};
const { token, phone, email, lotNumber, captchaOutput, passToken, genTime, header, address } = CANARIES;
const EVERYTHING = Object.values(CANARIES).join(' ');

/** What is no answer of the services. */
const ODD: readonly ((response: ServerResponse, sent: string) => unknown)[] = [
  (response) => response.socket?.resetAndDestroy(),
  (response, sent) => response.writeHead(502, { 'content-type': 'text/html' }).end(`<p>${sent}</p>`),
  (response, sent) => response.writeHead(302, { location: `/?${encodeURIComponent(sent)}` }).end(),
  (response, sent) => response.socket?.end(`HTTP/1.1 200 OK\r\n${sent.replace(/\s/g, '')}\r\n\r\n`),
  (response, sent) => response.end(sent.padEnd(300_000)),
  ...[401, 403, 404].map((code) => (response: ServerResponse, sent: string) => {
    sendJson(response, code, { code, message: sent, data: { [sent]: sent } });
  }),
];
const VARIANTS = Array.from({ length: 6 + ODD.length }, (_, variant) => variant);

/** An upstream that repeats what it was sent. The number behind the token or lot number chooses the response. */
function echo({ url, headers, body }: ReceivedRequest, response: ServerResponse): void {
  const sent = `${JSON.stringify(headers)} ${decodeURIComponent(body)} ${EVERYTHING}`;
  const variant = /(?:tok|lot)_canary_\w{4,6}-(\d+)/.exec(body)?.[1] ?? '0';
  const data = { echo: sent, errors: [{ field: sent, reason: sent, type: sent }], [sent]: sent };
  const signals = [{ signal: sent, level: 'HIGH', confidence: 1 }];
  const browser = { name: sent, [sent]: { [sent]: sent } };
  const fingerprint = [
    { ...ANDROID, data: { ...ANDROID.data, request_id: sent, event_id: sent, signals } },
    {
      ...WEB,
      data: { ...WEB.data, detail: { ...WEB.data.detail, device_basic: { browser, device: {}, os: browser } } },
    },
    { code: 400, message: sent, data },
    { code: 500, message: sent, data },
    { code: 200, message: sent, data: { [sent]: sent, signals: { [sent]: 1 } } },
    { code: 200, message: sent, data: { ...ANDROID.data, signals: [sent, { [sent]: sent }] } },
  ];
  const said = Object.fromEntries(Object.keys(PASS.captcha_args).map((name) => [name, sent]));
  const captcha = [
    { ...PASS, captcha_args: { ...said, lot_number: lotNumber } },
    { ...FAIL, reason: sent, captcha_args: { lot_number: sent } },
    { ...FAIL, reason: 'illegal sign_token', captcha_args: { lot_number: sent } },
    JSON.parse(exception('-50000', sent)),
    { status: 'error', code: sent, msg: sent, desc: { type: sent } },
    { status: 'success', [sent]: { [sent]: sent } },
  ];
  const reply = (url.startsWith('/validate') ? captcha : fingerprint)[Number(variant)];
  if (reply) sendJson(response, reply.code === 400 || reply.code === 500 ? reply.code : 200, reply);
  else ODD[Number(variant) - 6]?.(response, sent);
}

const metadata = { phoneNum: phone, email, accountId: email, additional: { [email]: phone } };
const input = (variant: number) => ({ lotNumber: `${lotNumber}-${variant}`, captchaOutput, passToken, genTime });
const quoted = JSON.stringify(EVERYTHING);

/** Requests for each answer of the upstream. */
const ANSWERED: readonly unknown[] = VARIANTS.flatMap((variant) => [
  { query: FINGERPRINT_QUERY, variables: { token: `${token}-${variant}`, metadata, eventType: EVERYTHING } },
  { query: queryForTokens([`${token}-${variant}`]) },
  {
    query: ENTITIES_QUERY,
    variables: { representations: [{ __typename: 'DeviceFingerprint', token: `${token}-${variant}`, [email]: phone }] },
  },
  { query: CAPTCHA_MUTATION, variables: { input: input(variant) } },
]);

/** Requests with those values in every other part of a GraphQL request. */
const BODIES: readonly unknown[] = [
  { query: FINGERPRINT_QUERY, variables: { token, publicKey: CANARIES.publicKey } },
  { query: CAPTCHA_MUTATION, variables: { input: { ...input(0), captchaId: CANARIES.captchaId } } },
  { query: CAPTCHA_MUTATION, variables: { input: { ...input(0), genTime: email } } },
  { query: FINGERPRINT_QUERY, variables: { token, eventTime: EVERYTHING } },
  { query: FINGERPRINT_QUERY, variables: { token: { [token]: email }, metadata: EVERYTHING, [token]: phone } },
  { query: ENTITIES_QUERY, variables: { representations: [{ __typename: email, token }, { [token]: token }] } },
  { query: 'query Named { __typename }', operationName: token },
  { query: 'query Named { __typename }', operationName: EVERYTHING, extensions: { [token]: EVERYTHING } },
  { query: `{ ${token}: deviceFingerprint(token: "${token}-3", eventType: ${quoted}) { __typename } }` },
  { query: `{ ${token}(${token}: ${quoted}) @${token} { ...${token} } }` },
  { query: `query ($${token}: String! = ${quoted}) { deviceFingerprint(token: $${token}) { ${token} } }` },
  { query: `# ${EVERYTHING}\n{ deviceFingerprint(token: [${quoted}]) { __typename } }` },
  { query: `{ deviceFingerprint(token: """${EVERYTHING}\n    at ${token} (a.ts:1:1)""" }` },
  { query: EVERYTHING },
  { [token]: EVERYTHING },
  [EVERYTHING],
  EVERYTHING,
];

const HEADERS = {
  'router-authorization': CANARIES.routerSecret,
  authorization: `Bearer ${header}`,
  cookie: `session=${header}`,
  baggage: `user=${header}`,
  tracestate: `vendor=${header}`,
  referer: `https://shop.example/?${header}`,
  'user-agent': header,
  'x-forwarded-for': `${address}:80`,
  'x-user-id': header,
  [header]: header,
  // Logs and traces use the values of these headers, if they have only allowed characters.
  'x-request-id': `${header} ${email}`,
  'apollographql-client-name': email,
  'apollographql-client-version': `${token};${email}`,
  traceparent: `00-${header}`,
};

const [ipAddr, userAgent, accountId] = ['x-forwarded-for', 'user-agent', 'x-user-id'].map((header) => ({ header }));

async function sendEverything(app: TestApp): Promise<void> {
  for (const body of ANSWERED) {
    const { data, errors } = JSON.parse((await send(app, body, HEADERS)).text);
    expect(data).toBeDefined();
    expectNoCanary(JSON.stringify(errors ?? []));
  }
  for (const body of BODIES) await send(app, body, HEADERS);
  for (const body of [`{"query":"${EVERYTHING}`, `${EVERYTHING}{}`, quoted.padEnd(200_000)]) {
    await request(app.graphqlUrl, json(body, HEADERS));
  }
  for (const wrongSecret of [CANARIES.routerSecret.slice(1), email]) {
    await send(app, { query: '{ a }' }, { ...HEADERS, 'router-authorization': wrongSecret });
  }
  await (await fetch(`${app.graphqlUrl}/${token}?${encodeURIComponent(EVERYTHING)}`, { headers: HEADERS })).text();
}

function expectNoCanary(text: string): void {
  const signatures = VARIANTS.map((variant) =>
    createHmac('sha256', CANARIES.captchaKey).update(`${lotNumber}-${variant}`).digest('hex'),
  );
  for (const value of [...Object.values(CANARIES), ...signatures]) {
    for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]) {
      expect(text).not.toContain(form);
    }
    // The base64 of a text inside another one depends on its offset modulo 3, so there are three forms.
    for (const before of ['', 'x', 'xx']) {
      const inner = Buffer.from(before + value)
        .toString('base64')
        .slice(4, -4);
      if (inner.length > 8) expect(text).not.toContain(inner);
    }
  }
}

test('no log at the level of the most lines, no metric and no trace has a token', async () => {
  const receiver = await startReceiver();
  const upstream = await untilEnd(startUpstream(echo));
  const { routerSecret, logHashKey } = CANARIES;
  const app = await startInLiveMode(upstream.url, {
    fingerprintApplications: [{ publicKey: 'pk_1', secret: CANARIES.secret, region: 'GLB' }],
    captchaConfigurations: [{ captchaId: 'a'.repeat(32), captchaKey: CANARIES.captchaKey, region: 'EU' }],
    logLevel: 'trace',
    logHashKey,
    routerSecrets: [routerSecret],
    trustedHeaders: { subject: 'x-user-id', metadata: { ipAddr, userAgent, accountId } },
    otlpEndpoint: receiver.endpoint,
    otelTracesSamplerArg: 1,
  });
  onTestFinished(app.stop);
  await sendEverything(app);
  const metrics = await (await fetch(app.metricsUrl)).text();
  await app.stop();

  // The values did reach the upstream, and log, metrics and traces are not empty.
  for (const value of [token, address, `account_id\\":\\"${header}`])
    expect(JSON.stringify(upstream.received)).toContain(value);
  expect(receiver.spans().length).toBeGreaterThan(50);
  expect(metrics).toContain('unknown');
  for (const level of ['info', 'warn']) expect(app.logged()).toContain(`"level":"${level}"`);
  for (const output of [app.logged(), metrics, receiver.bytes()]) expectNoCanary(output);
});
