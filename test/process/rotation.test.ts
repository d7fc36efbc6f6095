import { createHmac } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { ANDROID, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { MAIN, startProcess, type TestProcess } from '../support/process.ts';
import { post } from '../support/requests.ts';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.ts';

/** Secrets that change while the process works, as a platform rotates them: by other files in their place. */

const ID = 'a'.repeat(32);
const open: { upstream?: TestUpstream; child?: TestProcess; folder?: string } = {};
afterEach(async () => {
  await Promise.all([open.child?.stop(), open.upstream?.stop()]);
  if (open.folder) await rm(open.folder, { recursive: true });
});

const signature = (lotNumber: string, key: string) => createHmac('sha256', key).update(lotNumber).digest('hex');

test('all four are rotated under load without a failed request, and a broken file changes nothing', async () => {
  /** Which generation of a credential each request came with. */
  const seen = { fingerprint: [] as string[], captcha: [] as boolean[] };
  open.upstream = await startUpstream((request, response) => {
    if (request.url.startsWith('/validate')) {
      const form = new URLSearchParams(request.body);
      const lotNumber = form.get('lot_number') ?? '';
      seen.captcha.push(form.get('sign_token') === signature(lotNumber, 'key_new'));
      sendJson(response, 200, { ...PASS, captcha_args: { ...PASS.captcha_args, lot_number: lotNumber } });
    } else {
      seen.fingerprint.push(String(request.headers.authorization));
      sendJson(response, 200, ANDROID);
    }
  });
  open.folder = await mkdtemp(join(tmpdir(), 'rotation-'));
  const path = (name: string) => join(open.folder ?? '', name);
  /** In one step, as a mounted secret changes. */
  const put = async (name: string, text: string) => {
    await writeFile(path(`${name}.next`), text);
    await rename(path(`${name}.next`), path(name));
  };
  const application = (secret: string) => JSON.stringify([{ publicKey: 'pk_shop', secret, region: 'GLB' }]);
  const captcha = (captchaKey: string) => JSON.stringify([{ captchaId: ID, captchaKey, region: 'GLB' }]);
  await put('applications', application('sk_old'));
  await put('captchas', captcha('key_old'));
  await put('router', 'the-old-router-secret');
  const services = (...secrets: string[]) =>
    JSON.stringify(secrets.map((secret, index) => ({ name: `orders-${index}`, secret })));
  await put('services', services('the-old-secret-of-orders'));

  const child = startProcess(MAIN, {
    PORT: '0',
    ADMIN_PORT: '0',
    SHUTDOWN_GRACE_MS: '0',
    // On a busy machine the process would refuse requests for another reason.
    MAX_EVENT_LOOP_DELAY_MS: '10000',
    LOG_LEVEL: 'info',
    FINGERPRINT_APPLICATIONS_FILE: path('applications'),
    CAPTCHA_CONFIGURATIONS_FILE: path('captchas'),
    ROUTER_SECRETS_FILE: path('router'),
    SERVICES_FILE: path('services'),
    TRUSTED_HEADERS: '{"scopes":"x-user-scopes"}',
    FINGERPRINT_URL_GLB: open.upstream.url,
    CAPTCHA_URL_GLB: open.upstream.url,
  });
  open.child = child;
  const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);

  let secret = 'the-old-router-secret';
  const ask = (query: string, variables: object, as = secret) =>
    post(graphqlUrl, JSON.stringify({ query, variables }), {
      'router-authorization': as,
      'x-user-scopes': 'risk:read',
    });
  let serviceSecret = 'the-old-secret-of-orders';
  const askAsService = (as = serviceSecret) =>
    post(graphqlUrl, '{"query":"{ __typename }"}', { authorization: `Bearer ${as}` });
  const failures: unknown[] = [];
  const load = { asked: 0, on: true };
  const clients = Array.from({ length: 4 }, async () => {
    while (load.on) {
      load.asked += 1;
      const lotNumber = `lot-${load.asked}`;
      const input = { lotNumber, captchaOutput: 'o', passToken: 'p', genTime: '1' };
      const answers = [
        await ask(FINGERPRINT_QUERY, { token: `t-${load.asked}` }),
        await ask(CAPTCHA_MUTATION, { input }),
        await askAsService(),
      ];
      failures.push(...answers.filter(({ status, errors }) => status !== 200 || errors));
      await setTimeout(5);
    }
  });
  const rotations = () => child.stdout().match(/"secrets rotated"/g)?.length ?? 0;
  const rotated = (times: number) => expect.poll(rotations, { timeout: 5_000 }).toBe(times);

  await put('router', 'the-old-router-secret,the-new-router-secret');
  await rotated(1);
  secret = 'the-new-router-secret';
  await put('services', services('the-old-secret-of-orders', 'the-new-secret-of-orders'));
  await rotated(2);
  serviceSecret = 'the-new-secret-of-orders';
  // By then every request with the old ones is over.
  const { asked } = load;
  await expect.poll(() => load.asked).toBeGreaterThan(asked + 10 * clients.length);
  await put('services', services('the-new-secret-of-orders'));
  await put('router', 'the-new-router-secret');
  await put('applications', application('sk_new'));
  await put('captchas', captcha('key_new'));
  await expect.poll(() => seen.fingerprint.at(-1), { timeout: 5_000 }).toBe('Bearer sk_new');
  await expect.poll(() => seen.captcha.at(-1), { timeout: 5_000 }).toBe(true);
  await put('captchas', '[{"captchaId":"half');
  await expect.poll(() => child.stdout(), { timeout: 5_000 }).toContain('the old ones stay in use');
  load.on = false;
  await Promise.all(clients);

  expect(failures).toEqual([]);
  expect(load.asked).toBeGreaterThan(100);
  expect(seen.fingerprint).toContain('Bearer sk_old');
  // The log is in order: nothing was rotated once the broken file was read.
  expect(child.stdout().lastIndexOf('"secrets rotated"')).toBeLessThan(
    child.stdout().indexOf('the old ones stay in use'),
  );
  expect((await ask('{ __typename }', {}, 'the-old-router-secret')).status).toBe(401);
  expect((await askAsService('the-old-secret-of-orders')).status).toBe(401);
  expect(child.stdout()).not.toMatch(/sk_(old|new)|key_(old|new)|router-secret|secret-of-orders/);
  expect(await child.end('SIGTERM')).toBe(0);
}, 40_000);
