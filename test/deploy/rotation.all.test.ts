import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { partsOf, verifyAttestation } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { freePort } from '../support/ports.ts';
import { ROOT, startCommand, type TestProcess } from '../support/process.ts';
import { json, request } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { type Answer, passOnTo, startUpstream } from '../support/upstream.ts';
import { environmentOf, startInstance, startNginx, unit } from './vm.ts';

/** The table of rotations in deploy/README.md, by `deploy/vm/restart.sh`, under load and behind the shipped block of nginx. */

const folder = await mkdtemp(join(tmpdir(), 'device-trust-rotation-'));
const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await rm(folder, { recursive: true });
});

const sandbox = await startSandbox({ port: 0 });
closers.push(sandbox.stop);
const [application, captcha] = [SANDBOX_APPLICATIONS[0], SANDBOX_CAPTCHAS[0]];
if (!application || !captcha) throw new Error('expected accounts in the sandbox, but got none');
/** The secrets that the fingerprint service has seen. While an operator replaces one, it accepts both. */
const seen: string[] = [];
const acceptBoth: Answer = (received, response) => {
  const { authorization = '' } = received.headers;
  seen.push(authorization);
  const known = authorization === 'Bearer sk_new' ? `Bearer ${application.secret}` : authorization;
  return passOnTo(sandbox.urls.GLB)({ ...received, headers: { ...received.headers, authorization: known } }, response);
};
const fingerprint = await startUpstream(acceptBoth, acceptBoth);
closers.push(fingerprint.stop);

const [ports, adminPorts] = await Promise.all([0, 1].map(() => Promise.all(times(4, freePort))));
if (!ports || !adminPorts) throw new Error('expected ports, but got none');
/** The unit with everything that is optional, but the quota store. */
const text = unit.replaceAll(/^#((?:LoadCredential|Environment)=(?!.*quota).*)$/gim, '$1');
const ATTESTATION = {
  issuer: 'https://device-trust.sandbox',
  audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'optional' }],
};
const running = new Map<string, TestProcess>();
closers.push(() => Promise.all([...running.values()].map((child) => child.stop())));

/** What systemd does with an instance. A start succeeds before the process has read its configuration (`Type=exec`). */
async function systemctl(verb: string, name: string): Promise<void> {
  await running.get(name)?.end('SIGTERM');
  if (verb === 'stop') return;
  const instance = Number(name.split('@')[1]);
  const child = startInstance(ROOT, {
    ...environmentOf(text, instance, folder),
    PORT: `${ports?.[instance]}`,
    ADMIN_PORT: `${adminPorts?.[instance]}`,
    FINGERPRINT_URL_GLB: fingerprint.url,
    CAPTCHA_URL_GLB: sandbox.urls.GLB,
    ATTESTATION: JSON.stringify(ATTESTATION),
    TRUSTED_HEADERS: '{"scopes":"x-user-scopes"}',
    // No request fails because this machine is busy.
    FINGERPRINT_TIMEOUT_MS: '60000',
    CAPTCHA_TIMEOUT_MS: '60000',
  });
  running.set(name, child);
}
const systemd = createServer(async ({ url = '' }, response) => {
  const [, verb = '', name = ''] = url.split('/');
  const child = running.get(name);
  if (verb === 'journal') return void response.end(`${child?.stdout()}${child?.stderr()}`);
  if (verb !== 'is-active') await systemctl(verb, name);
  else if ((await Promise.race([child?.ended, 'active'])) !== 'active') response.statusCode = 503;
  response.end();
});
const systemdUrl = `http://127.0.0.1:${await listen(systemd)}`;
closers.push(() => closeAtOnce(systemd));

/** Runs restart.sh with its exit code and what it prints. systemd cannot run here, so two commands of its names ask this test. */
async function restart(seconds = 60) {
  const bin = join(folder, 'bin');
  await mkdir(bin, { recursive: true });
  await writeFile(
    join(bin, 'systemctl'),
    `#!/bin/sh\n[ "$1" = -q ] && shift\nexec curl -sf --noproxy '*' ${systemdUrl}/$1/$2\n`,
  );
  await writeFile(
    join(bin, 'journalctl'),
    `#!/bin/sh\nfor unit; do :; done\nexec curl -sf --noproxy '*' ${systemdUrl}/journal/$unit\n`,
  );
  for (const name of ['systemctl', 'journalctl']) await chmod(join(bin, name), 0o755);
  let script = await readFile(join(ROOT, 'deploy/vm/restart.sh'), 'utf8');
  for (const [from, to] of [
    ['946$instance', `$(echo ${adminPorts?.join(' ')} | cut -d ' ' -f $((instance + 1)))`],
    ['seconds=60', `seconds=${seconds}`],
  ] as const) {
    expect(script).toContain(from);
    script = script.replace(from, to);
  }
  const { PATH = '' } = process.env;
  // A proxy that knows nothing of this machine: nobody listens on port 9.
  const env = { PATH: `${bin}:${PATH}`, http_proxy: 'http://127.0.0.1:9' };
  const shell = startCommand(['sh', '-c', script], { cwd: folder, env });
  return { code: await shell.ended, printed: shell.stderr() };
}

const put = async (files: Readonly<Record<string, unknown>>) => {
  for (const [name, value] of Object.entries(files))
    await writeFile(join(folder, 'credentials', name), typeof value === 'string' ? value : JSON.stringify(value));
};
const policy = (action: string) =>
  `{"rules":[{"id":"only","when":{"anyOf":["EMULATOR"]},"then":"${action}"}],"otherwise":"ALLOW"}`;
const service = (secret: string) => ({ name: 'orders', secret, scopes: ['risk:read'] });
const [active, next, sealing, nextSealing] = [
  generateKey('active'),
  generateKey('next'),
  newSealingKey(),
  newSealingKey(),
];
const [ROUTER, NEW_ROUTER] = ['the-old-router-secret', 'the-new-router-secret'];
const [SERVICE, NEW_SERVICE] = ['the-old-secret-of-orders', 'the-new-secret-of-orders'];
const BEFORE = {
  'fingerprint-applications': [application],
  'captcha-configurations': [captcha],
  'router-secrets': ROUTER,
  'log-hash-key': 'a-key-for-hashes-of-people',
  services: [service(SERVICE)],
  'attestation-keys': [active],
  'sealing-keys': [sealing],
  'risk-policy': policy('DENY'),
};
/** The first restart of each row of the table. */
const FIRST = {
  'captcha-configurations': [{ ...captcha, nextCaptchaKey: 'key_new' }],
  'router-secrets': `${ROUTER},${NEW_ROUTER}`,
  services: [service(SERVICE), service(NEW_SERVICE)],
  'attestation-keys': [active, next],
  'sealing-keys': [sealing, nextSealing],
};
/** The second one, and what needs one alone. */
const SECOND = {
  'fingerprint-applications': [{ ...application, secret: 'sk_new' }],
  'captcha-configurations': [{ ...captcha, captchaKey: 'key_new' }],
  'router-secrets': NEW_ROUTER,
  services: [service(NEW_SERVICE)],
  'attestation-keys': [
    { ...next, state: 'active' },
    { ...active, state: 'retired' },
  ],
  'sealing-keys': [nextSealing, sealing],
  'risk-policy': policy('CHALLENGE'),
  'log-hash-key': 'another-key-for-hashes-of-people',
};
/** A mistake in each file, with the words that name it. */
const REFUSED_AT_START: Readonly<Record<string, readonly [value: unknown, named: string]>> = {
  'router-secrets': ['short', 'ROUTER_SECRETS: expected '],
  services: ['[{"name":"orders"', 'SERVICES: expected '],
  'attestation-keys': [[{ ...active, state: 'retired' }], 'ATTESTATION_KEYS: expected '],
  'sealing-keys': [[{ ...sealing, k: 'short' }], 'SEALING_KEYS: expected '],
  'risk-policy': [policy('BLOCK'), 'RISK_POLICY_FILE: '],
  'log-hash-key': ['short', 'LOG_HASH_KEY: expected '],
};
const REFUSED_BY_THE_SERVICE: typeof REFUSED_AT_START = {
  'fingerprint-applications': [[{ ...application, secret: 'sk_wrong' }], 'HTTP status 401: Invalid bearer token'],
  'captcha-configurations': [[{ ...captcha, captchaKey: 'key_wrong' }], '"reason":"illegal sign_token"'],
};

const JUDGE = `query ($token: String!) {
  deviceFingerprint(token: $token) { ... on DeviceFingerprint { signals { code } decision { action } judgement { sealed } } }
}`;
const VERIFY = `mutation ($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) { __typename ... on CaptchaPassed { attestation } }
}`;
const OPEN = `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on DeviceJudgement { sealed } } }`;

test('each secret and the policy change in two restarts without a lost request, proof or seal, and a wrong value stops a restart', async (context) => {
  await mkdir(join(folder, 'credentials'));
  await put(BEFORE);
  expect(await restart()).toEqual({ code: 0, printed: '' });
  const nginx = await startNginx(folder, ports.slice(1));
  closers.push(nginx.stop);

  const secrets = { router: ROUTER, service: SERVICE };
  const asRouter = (secret: string) => ({ 'router-authorization': secret, 'x-user-scopes': 'risk:read' });
  const asService = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const ask = async (query: string, variables: object, headers: Readonly<Record<string, string>>) => {
    const { status, text: body } = await request(nginx.url, json(JSON.stringify({ query, variables }), headers));
    return status === 200 ? JSON.parse(body) : { status };
  };
  const fetchKeys = async () => (await fetch(new URL('/.well-known/jwks.json', nginx.url))).text();

  const lost: unknown[] = [];
  const sealed: string[] = [];
  const attestations: string[] = [];
  const actions: string[] = [];
  /** The keys that a verifier has cached. */
  let cached = await fetchKeys();
  let [turns, isOver] = [0, false];
  const open = async (one: string) => {
    const answer = await ask(
      OPEN,
      { representations: [{ __typename: 'DeviceJudgement', sealed: one }] },
      asService(secrets.service),
    );
    if (answer.data?._entities?.[0]?.sealed !== one) lost.push(answer);
  };
  const turn = async (token: string) => {
    const judged = await ask(JUDGE, { token }, asRouter(secrets.router));
    const { signals, decision, judgement } = judged.data?.deviceFingerprint ?? {};
    // A token that was sent twice has TOKEN_EXPIRED.
    if (JSON.stringify(signals) !== '[{"code":"EMULATOR"}]' || !judgement || judged.errors)
      return void lost.push(judged);
    actions.push(decision.action);
    sealed.push(judgement.sealed);
    // Often by the other replica.
    await open(judgement.sealed);
    const input = { ...(await solveChallenge(sandbox.urls.GLB)), audience: 'orders', action: 'placeOrder' };
    const verified = await ask(VERIFY, { input }, asRouter(secrets.router));
    const { attestation } = verified.data?.validateCaptcha ?? {};
    if (typeof attestation !== 'string') return void lost.push(verified);
    await verifyAttestation(attestation, cached).catch((error: unknown) => lost.push(error));
    attestations.push(attestation);
    await open(sealed[Math.floor(Math.random() * sealed.length)] ?? '');
  };
  context.onTestFinished(() => {
    isOver = true;
  });
  const load = times(6, async (worker) => {
    for (let at = 0; !isOver; at += 1, turns += 1)
      await turn(`sandbox:once:android:EMULATOR#${worker}-${at}`).catch((error: unknown) => lost.push(error));
  });
  const more = async () => {
    const enough = turns + 60;
    await expect.poll(() => turns).toBeGreaterThan(enough);
  };

  await more();
  await put(FIRST);
  expect(await restart()).toEqual({ code: 0, printed: '' });
  cached = await fetchKeys();
  Object.assign(secrets, { router: NEW_ROUTER, service: NEW_SERVICE });
  const keys = { method: 'POST', body: new URLSearchParams({ id: captcha.captchaId, key: 'key_new' }) };
  expect((await fetch(`${sandbox.urls.GLB}/sandbox/keys`, keys)).status).toBe(200);
  await more();
  await put(SECOND);
  expect(await restart()).toEqual({ code: 0, printed: '' });
  const { length: before } = actions;
  await more();

  for (const wrong of [REFUSED_AT_START, REFUSED_BY_THE_SERVICE]) {
    const replicas = [1, 2].map((instance) => running.get(`device-trust@${instance}`));
    await put({ ...SECOND, ...Object.fromEntries(Object.entries(wrong).map(([name, [value]]) => [name, value])) });
    const { code, printed } = await restart(8);
    expect(code).toBe(1);
    for (const [, named] of Object.values(wrong)) expect(printed).toContain(named);
    expect(printed).not.toMatch(/sk_wrong|key_wrong|"short"/);
    expect([1, 2].map((instance) => running.get(`device-trust@${instance}`))).toEqual(replicas);
    await more();
  }

  isOver = true;
  await Promise.all(load);
  const text = await fetchKeys();
  for (const one of attestations)
    await verifyAttestation(one, text, { clockTolerance: 600 }).catch((error: unknown) => lost.push(error));
  for (const one of sealed) await open(one);
  expect(lost.slice(0, 3)).toEqual([]);
  // And each new value is in use.
  expect(new Set(actions.slice(0, before))).toEqual(new Set(['DENY', 'CHALLENGE']));
  expect(new Set(actions.slice(before + load.length))).toEqual(new Set(['CHALLENGE']));
  expect(partsOf(attestations.at(-1) ?? '').header.kid).toBe(next.kid);
  expect(Buffer.from(sealed.at(-1)?.split('.')[0] ?? '', 'base64url').toString()).toContain(nextSealing.kid);
  expect(seen.at(-1)).toBe('Bearer sk_new');
  for (const headers of [asRouter(ROUTER), asService(SERVICE)])
    expect(await ask('{ __typename }', {}, headers)).toEqual({ status: 401 });
}, 300_000);
