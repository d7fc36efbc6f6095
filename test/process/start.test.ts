import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyAttestation } from '../support/attestations.ts';
import { makeCertificate } from '../support/certificate.ts';
import { solveChallenge } from '../support/challenges.ts';
import { answer, type Behaviour, startHostile } from '../support/hostile.ts';
import { COMPILED, MAIN, ROOT, shell, startCommand, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { LIVE, SANDBOX, startServing } from './environments.ts';

/** How a process starts, from its environment to its greeting and its first requests, and what it writes if it refuses to. */

const CANARY = 'canary-7f3a';

test.for<[string, Record<string, string>, string]>([
  [
    'fingerprint',
    { CAPTCHA_QUOTA: '{"perDay":9}' },
    'CAPTCHA_QUOTA: expected no value without the service captcha, but got one.',
  ],
  ['captchas', {}, 'arguments: expected names of services, which are fingerprint and captcha, but got "captchas".'],
])('a start with the argument %s and the variables %j is refused', async ([name, variables, sentence]) => {
  const env = { ...COMPILED, ...SANDBOX, ...variables };
  const child = await untilEnd(startCommand([process.execPath, MAIN, name], { cwd: ROOT, env }));
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  expect(child.stderr()).toContain(sentence);
});

test('a start names every mistake at once, those of the policy file among them, and no secret', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'mistakes-'));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const RISK_POLICY_FILE = join(folder, 'policy.json');
  await writeFile(RISK_POLICY_FILE, '{"rules":[{"id":"a","when":{"anyOf":["EMULATER"]},"then":"BLOCK"}]}');
  const FINGERPRINT_APPLICATIONS = `[{"publicKey":"pk_shop","secret":"${CANARY} ","region":"NA"}]`;
  const env = { ...LIVE, PORT: '70000', CAPTCHA_TIMEOUT_MS: '0', FINGERPRINT_APPLICATIONS, RISK_POLICY_FILE };
  const child = await untilEnd(startProcess(MAIN, env));
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  expect(child.stderr()).toMatch(
    /^Invalid configuration:\n( {2}[A-Z_]+: (rule "a": [\w.]+: |otherwise: )?expected .*, but got .*\.( Did you mean EMULATOR\?)?\n){6}$/,
  );
  for (const place of ['PORT', 'CAPTCHA_TIMEOUT_MS', 'FINGERPRINT_APPLICATIONS', 'RISK_POLICY_FILE: otherwise'])
    expect(child.stderr()).toContain(`\n  ${place}: expected `);
  expect(child.stderr()).not.toContain(CANARY);
});

test('a restart: what sandbox mode sealed and attested is good after it', async (context) => {
  const first = await startServing(context, SANDBOX);
  const [, sandboxUrl = ''] = /POST '(.*)\/sandbox\/challenges/.exec(first.child.stdout()) ?? [];
  const input = { ...(await solveChallenge(sandboxUrl)), audience: 'orders', action: 'placeOrder' };
  const attest = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
  const { attestation } = (await ask(first.graphqlUrl, attest, { input })).data.validateCaptcha;
  const judge =
    '{ deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { judgement { __typename sealed } } } }';
  const { judgement } = (await ask(first.graphqlUrl, judge)).data.deviceFingerprint;
  expect(await first.child.end('SIGTERM')).toBe(0);

  const { graphqlUrl, urlOf } = await startServing(context, SANDBOX);
  const jwks = await (await fetch(urlOf('/.well-known/jwks.json'))).text();
  expect(await verifyAttestation(attestation, jwks)).toMatchObject({ action: 'placeOrder' });
  const open = 'query ($of: [_Any!]!) { _entities(representations: $of) { ... on DeviceJudgement { clientType } } }';
  expect((await ask(graphqlUrl, open, { of: [judgement] })).data._entities).toEqual([{ clientType: 'IOS' }]);
});

test('sandbox mode says where it is and what to ask, and all of that works, twice, until a SIGINT', async (context) => {
  const { child, graphqlUrl, urlOf } = await startServing(context, SANDBOX);
  expect(child.stdout()).toContain(`Device trust is at ${graphqlUrl}, Apollo Sandbox at ${urlOf('/').slice(0, -1)}\n`);
  expect((await fetch(urlOf('/'), { headers: { accept: 'text/html' } })).status).toBe(200);

  const commands = child
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('curl '));
  const answered = [
    { deviceFingerprint: expect.objectContaining({ clientType: 'ANDROID' }) },
    { signalCatalogue: expect.arrayContaining([expect.objectContaining({ code: 'EMULATOR' })]) },
    { validateCaptcha: expect.objectContaining({ __typename: 'CaptchaPassed', proceed: true }) },
  ];
  const answers: { data: object; errors?: unknown }[] = [];
  for (const command of [...commands, ...commands]) answers.push(JSON.parse(await shell(command)));
  expect(answers.map(({ errors }) => errors)).toEqual(Array(6).fill(undefined));
  for (const time of [answers.slice(0, 3), answers.slice(3)]) {
    const byField = time.map(({ data }) => data).sort((one, other) => (Object.keys(one) < Object.keys(other) ? -1 : 1));
    expect(byField).toEqual(answered);
  }

  // Leaves a connection open, as a router does.
  await (await fetch(graphqlUrl, { method: 'POST' })).text();
  expect(await child.end('SIGINT')).toBe(0);
  expect(child.stderr()).toBe('');
  await expect(fetch(graphqlUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});

test('HTTPS_PROXY has no effect on upstream calls, even if Node itself uses proxies', async (context) => {
  const [day, now] = [24 * 60 * 60 * 1_000, Date.now()];
  const tls = makeCertificate({ host: 'localhost', notBefore: new Date(now - day), notAfter: new Date(now + day) });
  const reached: string[] = [];
  const reach =
    (name: string): Behaviour =>
    (exchange) => {
      reached.push(name);
      answer(200, '{}')(exchange);
    };
  const service = await untilEnd(startHostile(reach('service'), { tls }), context);
  const proxy = await untilEnd(startHostile(reach('proxy')), context);
  const folder = await mkdtemp(join(tmpdir(), 'proxy-'));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'ca.pem'), tls.cert);
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'https_proxy', 'http_proxy', 'all_proxy'];
  const { graphqlUrl } = await startServing(context, {
    ...LIVE,
    FINGERPRINT_URL_NA: `https://localhost:${service.port}`,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    NODE_USE_ENV_PROXY: '1',
    ...Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy.port}`])),
  });
  await ask(graphqlUrl, '{ deviceFingerprint(token: "a") { __typename } }');
  expect(reached).toEqual(['service']);
});
