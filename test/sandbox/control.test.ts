import { afterAll, expect, test } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startInLiveMode, startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';

/** What a company's test day changes from outside: faults, keys, and the second account of each region. */

const sandbox = await startSandbox({ port: 0 });
const { GLB, NA } = sandbox.urls;
const app = await startInLiveMode(sandbox.urls, { fingerprintTimeoutMs: 1_000 });
afterAll(async () => {
  await app.stop();
  await sandbox.stop();
});

const set = (url: string, path: string, form: Record<string, string>, headers = {}) =>
  fetch(`${url}/sandbox/${path}`, { method: 'POST', body: new URLSearchParams(form), headers });
const DEVICE =
  'query ($key: ID!) { deviceFingerprint(token: "sandbox:web", publicKey: $key) { ... on DeviceFingerprint { publicKey } } }';
const CAPTCHA =
  'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { __typename ... on CaptchaFailed { category } } }';
const codeOf = async (key: string) => (await ask(app.graphqlUrl, DEVICE, { key })).errors?.[0]?.extensions.code;
const captchaOf = async (url: string, captchaId: string, { graphqlUrl } = app) => {
  const input = { ...(await solveChallenge(url, captchaId)), captchaId };
  return (await ask(graphqlUrl, CAPTCHA, { input })).data.validateCaptcha;
};

test('a service of one region is slow, then works, then is down for as long as the tester said', async () => {
  const fault = (form: Record<string, string>) => set(GLB, 'faults', { service: 'fingerprint', ...form });
  expect(await (await fault({ delay: '5000' })).json()).toMatchObject({ delay: 5_000, seconds: 60 });
  // On a busy machine the delay may count as our own.
  expect(['UPSTREAM_TIMEOUT', 'OVERLOADED']).toContain(await codeOf('pk_sandbox_glb'));
  expect(await codeOf('pk_sandbox_na')).toBeUndefined();
  await fault({ seconds: '0' });
  await expect.poll(() => codeOf('pk_sandbox_glb')).toBeUndefined();
  await fault({ down: 'true', seconds: '1' });
  expect(await codeOf('pk_sandbox_glb')).toBe('UPSTREAM_UNAVAILABLE');
  expect(await captchaOf(GLB, 'a'.repeat(32))).toMatchObject({ __typename: 'CaptchaPassed' });
  await expect.poll(() => codeOf('pk_sandbox_glb')).toBeUndefined();
});

test('a new key of the sandbox makes the old one wrong', async () => {
  await set(NA, 'keys', { id: 'b'.repeat(32), key: 'new' });
  expect(await captchaOf(NA, 'b'.repeat(32))).toMatchObject({ category: 'ILLEGAL_SIGN_TOKEN' });
  await set(NA, 'keys', { id: 'pk_sandbox_na', key: 'new' });
  expect(await codeOf('pk_sandbox_na')).toBe('UPSTREAM_REJECTED');
  const fingerprintApplications = SANDBOX_APPLICATIONS.map((row) =>
    row.publicKey === 'pk_sandbox_na' ? { ...row, secret: 'new' } : row,
  );
  const captchaConfigurations = SANDBOX_CAPTCHAS.map((row) =>
    row.captchaId === 'b'.repeat(32) ? { ...row, captchaKey: 'new' } : row,
  );
  const accounts = { fingerprintApplications, captchaConfigurations };
  const rotated = await untilEnd(startInLiveMode(sandbox.urls, accounts));
  const { data } = await ask(rotated.graphqlUrl, DEVICE, { key: 'pk_sandbox_na' });
  expect(data.deviceFingerprint).toEqual({ publicKey: 'pk_sandbox_na' });
  expect(await captchaOf(NA, 'b'.repeat(32), rotated)).toMatchObject({ __typename: 'CaptchaPassed' });
});

test('each region has two applications and two captcha ids that work', async () => {
  const dev = await untilEnd(startInSandboxMode());
  for (const [region, url] of Object.entries(dev.sandboxUrls ?? {})) {
    const keys = SANDBOX_APPLICATIONS.filter((row) => row.region === region && !row.forbidden);
    const ids = SANDBOX_CAPTCHAS.filter((row) => row.region === region && !row.exception);
    expect([keys.length, ids.length]).toEqual([2, 2]);
    for (const { publicKey } of keys)
      expect((await ask(dev.graphqlUrl, DEVICE, { key: publicKey })).data.deviceFingerprint).toEqual({ publicKey });
    for (const { captchaId } of ids)
      expect(await captchaOf(url, captchaId, dev)).toMatchObject({ __typename: 'CaptchaPassed' });
  }
});

test.each([
  ['faults', { service: 'mail', delay: '1' }],
  ['faults', { service: 'captcha', slow: 'true' }],
  ['faults', { service: 'captcha', down: 'perhaps' }],
  ['faults', { service: 'captcha', delay: '60001' }],
  ['faults', { service: 'captcha', delay: '1', seconds: '3601' }],
  ['keys', { id: 'unknown', key: 'new' }],
  ['keys', { id: 'pk_sandbox_eu', key: 'a b' }],
])('%s refuses %j', async (path, form) => {
  const answer = await set(GLB, path, form);
  expect([answer.status, await answer.json()]).toEqual([400, { problem: expect.any(String) }]);
});

test('a page cannot change the sandbox', async () => {
  const answer = await set(GLB, 'faults', { service: 'captcha', down: 'true' }, { origin: 'http://localhost:5173' });
  expect(answer.status).toBe(404);
});
