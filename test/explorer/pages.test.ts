import { runInNewContext } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { expectRefusal, startWithoutUpstreams } from '../server/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ask, json, post, request, sendBytes } from '../support/requests.ts';
import { readApolloSandbox, readGraphiql } from './pages.ts';

/** The pages of `src/explorer.ts`, and what pages of other ports may ask: in sandbox mode, and never in live mode. */

const sandbox = await startInSandboxMode();
const live = await startWithoutUpstreams();
afterAll(() => Promise.all([sandbox.stop(), live.stop()]));

const BROWSER = { headers: { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' } };

/** What each operation of a page is answered, as far as a person would look. */
const decision = { action: 'CHALLENGE', rule: 'serious' };
const ANSWERS = {
  DeviceFingerprint: {
    deviceFingerprint: { decision, clientType: 'ANDROID', signals: [{ name: 'EMULATOR' }, { name: 'VPN_ENABLED' }] },
  },
  JudgeDevice: { deviceFingerprint: { judgement: { sealed: expect.stringMatching(/^eyJ/), decision } } },
  StoredJudgement: { _entities: [{ eventType: 'checkout', decision, signals: [{ name: 'EMULATOR' }] }] },
  SignalCatalogue: { signalCatalogue: expect.any(Array) },
  ValidateCaptcha: { validateCaptcha: { __typename: 'CaptchaPassed', proceed: true } },
  AttestCaptcha: { validateCaptcha: { attestation: expect.stringMatching(/^eyJ/) } },
};

// Twice, because a challenge can be verified once.
test.each(['first', 'second'])('Apollo Sandbox comes with operations that work, the %s time', async () => {
  const { status, headers, text } = await request(sandbox.graphqlUrl, BROWSER);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^text\/html/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(text).toMatch(/<script[^>]+src="https:\/\/embeddable-sandbox\.cdn\.apollographql\.com\//);
  const { document, variables } = readApolloSandbox(text);
  for (const [operationName, expected] of Object.entries(ANSWERS)) {
    const body = JSON.stringify({ query: document, variables, operationName });
    const { data, errors } = await post(sandbox.graphqlUrl, body);
    expect(errors).toBeUndefined();
    expect(data).toMatchObject(expected);
  }
});

test('GET / leads to Apollo Sandbox in sandbox mode', async () => {
  const { status, headers } = await request(`${sandbox.url}/`, BROWSER);
  expect([status, headers.get('location')]).toEqual([302, '/graphql']);
  expect(headers.get('cache-control')).toBe('no-store');
});

test.each(['first', 'second'])('GraphiQL needs nothing from elsewhere, and its tabs work, the %s time', async () => {
  const { status, headers, text } = await request(`${sandbox.url}/graphiql`, BROWSER);
  expect(status).toBe(200);
  expect(headers.get('content-type')).toMatch(/^text\/html/);
  expect(headers.get('cache-control')).toBe('no-store');
  // Only tags of the page itself count; its scripts and styles hold texts that look like tags.
  const tags = text
    .replace(/(<script[^>]*>)[\s\S]*?<\/script>/g, '$1')
    .replace(/(<style[^>]*>)[\s\S]*?<\/style>/g, '$1');
  const links = [...tags.matchAll(/\s(?:src|href)\s*=\s*["']?([^"'\s>]{1,40})/g)].map(([, link]) => link);
  expect(links.filter((link) => !link?.startsWith('data:'))).toEqual([]);
  expect(text).not.toMatch(/@import\s+(?:url\()?["']?(?:https?:)?\/\//);
  const { endpoint, query, variables, defaultTabs } = readGraphiql(text);
  expect(endpoint).toBe('/graphql');
  expect(defaultTabs[0]).toEqual({ query, variables });
  expect(defaultTabs).toHaveLength(Object.keys(ANSWERS).length);
  for (const [index, expected] of Object.values(ANSWERS).entries()) {
    const tab = defaultTabs[index];
    const { data, errors } = await ask(sandbox.url + endpoint, tab?.query ?? '', JSON.parse(tab?.variables ?? ''));
    expect(errors).toBeUndefined();
    expect(data).toMatchObject(expected);
  }
});

test('a visit to GraphiQL renews the challenges in the tabs that the last one left, and nothing else that is in them', async () => {
  const { text } = await request(`${sandbox.url}/graphiql`, BROWSER);
  const fresh = readGraphiql(text).defaultTabs;
  const left = {
    activeTabIndex: 1,
    tabs: ['ValidateCaptcha', 'DeviceFingerprint', 'Validate', null].map((operationName) => ({
      operationName,
      query: 'of the person',
      variables: 'of the person',
    })),
  };
  const stored = { 'graphiql:tabState': JSON.stringify(left) };
  const localStorage = {
    getItem: (key: keyof typeof stored) => stored[key],
    setItem: (key: keyof typeof stored, value: string) => {
      stored[key] = value;
    },
  };
  const [, script = ''] = /<head>.*?<script>([\s\S]*?)<\/script>/.exec(text) ?? [];
  runInNewContext(script, { localStorage });
  const { variables } = fresh.find(({ query }) => query.includes('mutation ValidateCaptcha(')) ?? {};
  const [captcha, ...others] = left.tabs;
  expect(JSON.parse(stored['graphiql:tabState'])).toEqual({ ...left, tabs: [{ ...captcha, variables }, ...others] });
  // On a first visit nothing is stored.
  runInNewContext(script, { localStorage: { getItem: () => null } });
});

const askAs = (host: string, { url }: { readonly url: string }) =>
  sendBytes(url, `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
const statusFor = async (...asked: Parameters<typeof askAs>) => Number((await askAs(...asked)).split(' ')[1]);

const FOREIGN_HOSTS = [
  ...'rebound.example rebound.example:4001 rebound.example.:4001 127.0.0.1.rebound.example'.split(' '),
  ...'localhost.rebound.example host.docker.internal.rebound.example reboundinternal.example'.split(' '),
  ...'rebound.example-internal rebound.example@host.docker.internal .internal'.split(' '),
  // Public sites can be below .arpa and .shop; `shop` may be a namespace of a cluster.
  ...'rebound.arpa home-arpa.rebound.arpa reboundhome.arpa rebound.svc.example device-trust.shop .local'.split(' '),
  '',
];
const OWN_HOSTS =
  'localhost LOCALHOST:4001 localhost.:4001 127.0.0.1:4001 [::1]:4001 [::1] 192.0.2.7 device-trust:4001 device_trust ' +
  'host.docker.internal:4001 HOST.Containers.Internal host.docker.internal.:4001 device-trust.localhost:4001 device-trust.test ' +
  'laptop.local:4001 Laptop.LAN laptop.home.arpa:4001 device-trust.default.svc:4001 device-trust.default.svc.cluster.local.:4001';

test.each([
  ...FOREIGN_HOSTS.map((host) => [host, 'is refused', 421] as const),
  ...OWN_HOSTS.split(' ').map((host) => [host, 'is answered', 200] as const),
])('a Host that can be of another site is refused in sandbox mode alone: %j %s', async (host, _what, status) => {
  expect(await statusFor(host, sandbox)).toBe(status);
  expect(await statusFor(host, live)).toBe(200);
});

test('the refusal of a Host says which names are taken', async () => {
  const names =
    'an address, a name without a dot, or one below home.arpa, internal, lan, local, localhost, svc or test';
  expect(await askAs('rebound.example', sandbox)).toContain(names);
});

/** What CORS says about an answer, for one to a preflight and one to a POST with this body. */
const corsOf = async (url: string, origin: string, body = '{}') => {
  const asked = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type,x-user-id',
    'access-control-request-private-network': 'true',
  };
  const preflight = await request(url, { method: 'OPTIONS', headers: { origin, ...asked } });
  const answers = [preflight, await request(url, json(body, { origin }))];
  const allowed = ['origin', 'methods', 'headers', 'private-network'].map((name) => `access-control-allow-${name}`);
  const names = ['vary', ...allowed];
  return answers.map(({ status, headers }) => [status, ...names.map((name) => headers.get(name))]);
};
const sandboxUrl = sandbox.sandboxUrls?.GLB;
const challenges = `${sandboxUrl}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`;

test.each([
  [sandbox.graphqlUrl, 'http://localhost:5173', '{"query":"{ __typename }"}', 200],
  [sandbox.graphqlUrl, 'http://localhost', '{', 400],
  [sandbox.graphqlUrl, 'http://[::1]:5173', '{', 400],
  [sandbox.graphqlUrl, 'http://127.0.0.1:3000', 'x'.repeat(600_000), 413],
  [sandbox.graphqlUrl, 'https://studio.apollographql.com', '{"query":"{ __schema { queryType { name } } }"}', 200],
  [challenges, 'http://127.0.0.1:3000', '', 200],
])('a page on this machine, or Apollo Sandbox, reads whatever %s answers: %s', async (url, origin, body, status) => {
  const preflight = [204, 'origin', origin, 'POST', 'content-type,x-user-id', 'true'];
  expect(await corsOf(url, origin, body)).toEqual([preflight, [status, 'origin', origin, null, null, null]]);
});

test.each([
  ...'http://localhost.evil.example http://localhost:1@evil.example http://evil.example:4001 null'.split(' '),
  ...'http://127.0.0.2:3000 https://localhost:3000 http://studio.apollographql.com'.split(' '),
  ...'https://studio.apollographql.com:8443 https://studio.apollographql.com.evil.example'.split(' '),
  ...['https://evil.apollographql.com', 'http://localhost:1, http://localhost:1'],
])('a page elsewhere reads nothing: %s', async (origin) => {
  const nothing = ['origin', null, null, null, null];
  expect(await corsOf(sandbox.graphqlUrl, origin)).toEqual([405, 400].map((status) => [status, ...nothing]));
  expect(await corsOf(challenges, origin)).toEqual([404, 200].map((status) => [status, ...nothing]));
});

test('a page of another origin reads nothing else, and nothing in live mode', async () => {
  for (const url of [live.graphqlUrl, `${live.url}/`, `${sandbox.url}/.well-known/jwks.json`, `${sandboxUrl}/validate`])
    for (const origin of ['http://localhost:5173', 'https://studio.apollographql.com'])
      for (const [, ...cors] of await corsOf(url, origin)) expect(cors).toEqual(Array(5).fill(null));
});

test('live mode has no pages', async () => {
  expectRefusal(await request(live.graphqlUrl, BROWSER), 405);
  expectRefusal(await request(`${live.url}/graphiql`, BROWSER), 404);
  expectRefusal(await request(`${live.url}/`, BROWSER), 404);
});
