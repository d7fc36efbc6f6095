import { Agent, request as httpRequest } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { ANDROID, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_FIELDS, JUDGED_FRAGMENT } from '../support/graphql.ts';
import { freePort } from '../support/ports.ts';
import { MAIN, startProcess, type TestProcess } from '../support/process.ts';
import { request } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { LIVE } from './environments.ts';

/** The first requests of a process: they find all code compiled, and what compiled it has left no trace. */

const upstream = await startUpstream(({ url, body }, response) => {
  const lotNumber = new URLSearchParams(body).get('lot_number');
  const passed = { ...PASS, captcha_args: { ...PASS.captcha_args, lot_number: lotNumber } };
  sendJson(response, 200, url.startsWith('/api') ? ANDROID : passed);
});
afterAll(upstream.stop);

/** By then V8 has compiled everything for speed. */
const REQUESTS_OF_A_TRY = 60;
/** How many times as long the first request may take as the last ones. Without a warm-up each of them exceeds this. */
const MOST = 8;

const INPUT = { captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** A request for each root field. Each number gives a document that no cache knows: a comment makes it another one. */
const REQUESTS: Readonly<Record<string, (number: number) => object>> = {
  deviceFingerprint: (number) => ({
    query: `query ($token: String!) { deviceFingerprint(token: $token) { ${FINGERPRINT_FIELDS} } } ${JUDGED_FRAGMENT} # ${number}`,
    variables: { token: `token-${number}` },
  }),
  _entities: (number) => ({
    query: `query ($representations: [_Any!]!) { _entities(representations: $representations) { ...Judged } } ${JUDGED_FRAGMENT} # ${number}`,
    variables: { representations: [{ __typename: 'DeviceFingerprint', token: `token-${number}` }] },
  }),
  validateCaptcha: (number) => ({
    query: `${CAPTCHA_MUTATION} # ${number}`,
    variables: { input: { ...INPUT, lotNumber: `lot-${number}` } },
  }),
  signalCatalogue: (number) => ({ query: `{ signalCatalogue { code level confidence effect meaning } } # ${number}` }),
  _service: (number) => ({ query: `{ _service { sdl } } # ${number}` }),
};

interface Started {
  readonly child: TestProcess;
  readonly graphqlUrl: string;
  readonly metricsUrl: string;
}

/** A process that has said that it is ready. */
async function startLive(adminPort: number): Promise<Started> {
  const urls = { FINGERPRINT_URL_NA: upstream.url, CAPTCHA_URL_EU: upstream.url };
  const mode = {
    ...LIVE,
    ...urls,
    UPSTREAM_CHECK: 'first',
    SHUTDOWN_GRACE_MS: '0',
    PORT: '0',
    ADMIN_PORT: `${adminPort}`,
  };
  const child = startProcess(MAIN, mode);
  const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
  return { child, graphqlUrl, metricsUrl: `http://127.0.0.1:${adminPort}/metrics` };
}

/** How long each of many requests with new documents takes, in ms, over a connection that is open. */
async function timesOf(requestOf: (number: number) => object): Promise<number[]> {
  const { child, graphqlUrl } = await startLive(0);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    await send(agent, new URL('/readyz', graphqlUrl).href, 'GET', '');
    const times: number[] = [];
    for (let number = 0; number < REQUESTS_OF_A_TRY; number += 1) {
      const start = performance.now();
      const answer = await send(agent, graphqlUrl, 'POST', JSON.stringify(requestOf(number)));
      times.push(performance.now() - start);
      expect(answer).toMatch(/^\{"data":\{"\w+":[^n]/);
    }
    return times;
  } finally {
    agent.destroy();
    await child.stop();
  }
}

function send(agent: Agent, url: string, method: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = httpRequest(url, { method, agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(text)).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}

const TRIES = 2;

test.each(Object.entries(REQUESTS))(
  'the first request for %s takes little longer than later ones',
  async (_field, of) => {
    // Warms up this client, and lets Node keep what it compiled of the server for the next start.
    await timesOf(of);
    const first: number[] = [];
    const later: number[] = [];
    for (let tries = 0; tries < TRIES; tries += 1) {
      const [time = Number.NaN, ...others] = await timesOf(of);
      first.push(time);
      later.push(...others.slice(-10));
    }
    // The best of each, because anything else on the machine only makes a request slower.
    expect(Math.min(...first)).toBeLessThan(Math.min(...later) * MOST);
  },
);

test('nothing of the warm-up is logged, counted or sent', async () => {
  upstream.received.length = 0;
  // Nothing says where the metrics are if the system chooses their port.
  const { child, graphqlUrl, metricsUrl } = await startLive(await freePort());
  try {
    const counted = async () => {
      const { text } = await request(metricsUrl);
      const counters =
        'operation|errors|requests_refused|fingerprint_|captcha_|judgements|decisions|attestation|quota_refused';
      return text.match(new RegExp(`^device_trust_(${counters})\\w*_(total|count)(\\{.*\\})? [1-9].*$`, 'gm'));
    };
    expect(await counted()).toBeNull();
    const messages = child
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    expect(messages).toEqual(['ready']);
    expect(upstream.received).toEqual([]);
    // What a client asks is counted, logged and sent.
    await request(graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ deviceFingerprint(token: \\"t\\") { __typename } }"}',
    });
    expect((await counted())?.join('\n')).toMatch(/operations_total.*\n.*fingerprint_lookups_total/s);
    await child.waitFor(/"msg":"operation"/);
    expect(upstream.received).toHaveLength(1);
  } finally {
    await child.stop();
  }
});
