import { createHmac } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { ANDROID, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { freePort } from '../support/ports.ts';
import { post } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { LIVE, startServing } from './environments.ts';

/** Files that change while the process works, as a platform rotates secrets: by other files in their place. */

const ID = 'a'.repeat(32);
const signature = (lotNumber: string, key: string) => createHmac('sha256', key).update(lotNumber).digest('hex');
const DECISION =
  '{ deviceFingerprint(token: "of the policy") { ... on DeviceFingerprint { decision { action policy } } } }';

test('all secrets and the policy are replaced under load without a failed request, and broken files change nothing', async (context) => {
  /** Which generation of a credential each request came with. */
  const seen = { fingerprint: [] as string[], captcha: [] as boolean[] };
  const upstream = await startUpstream((request, response) => {
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
  context.onTestFinished(upstream.stop);
  const folder = await mkdtemp(join(tmpdir(), 'rotation-'));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const path = (name: string) => join(folder, name);
  /** In one step, as a mounted secret changes. */
  const put = async (name: string, text: string) => {
    await writeFile(path(`${name}.next`), text);
    await rename(path(`${name}.next`), path(name));
  };
  const application = (secret: string) => JSON.stringify([{ publicKey: 'pk_shop', secret, region: 'NA' }]);
  const captcha = (captchaKey: string) => JSON.stringify([{ captchaId: ID, captchaKey, region: 'EU' }]);
  const services = (...secrets: string[]) =>
    JSON.stringify(secrets.map((secret, index) => ({ name: `orders-${index}`, secret })));
  const policy = (action: string) =>
    `{"rules":[{"id":"only","when":{"anyOf":["EMULATOR"]},"then":"${action}"}],"otherwise":"ALLOW"}`;
  const [key, nextKey] = [generateKey('active'), generateKey('active')];
  await put('keys', JSON.stringify([key]));
  await put('applications', application('sk_old'));
  await put('captchas', captcha('key_old'));
  await put('router', 'the-old-router-secret');
  await put('services', services('the-old-secret-of-orders'));
  await put('policy', policy('DENY'));

  const adminPort = await freePort();
  const { FINGERPRINT_APPLICATIONS: _, CAPTCHA_CONFIGURATIONS: __, ALLOW_DIRECT_ACCESS: ___, ...rest } = LIVE;
  const { child, graphqlUrl, urlOf } = await startServing(context, {
    ...rest,
    FINGERPRINT_APPLICATIONS_FILE: path('applications'),
    CAPTCHA_CONFIGURATIONS_FILE: path('captchas'),
    ROUTER_SECRETS_FILE: path('router'),
    SERVICES_FILE: path('services'),
    RISK_POLICY_FILE: path('policy'),
    ATTESTATION_KEYS_FILE: path('keys'),
    ATTESTATION:
      '{"issuer":"https://rotation.test","audiences":[{"id":"orders","actions":["placeOrder"],"subject":"optional"}]}',
    ADMIN_PORT: String(adminPort),
    TRUSTED_HEADERS: '{"scopes":"x-user-scopes"}',
    FINGERPRINT_URL_NA: upstream.url,
    CAPTCHA_URL_EU: upstream.url,
    // No request fails because this process answers it late.
    FINGERPRINT_TIMEOUT_MS: '60000',
    CAPTCHA_TIMEOUT_MS: '60000',
  });

  /** The kinds of files whose newest content is not in use, as the metrics say. */
  const refusedFiles = async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return [...metrics.matchAll(/^device_trust_newest_in_use\{file="(\w+)"\} (?!1$)/gm)].map(([, file]) => file).sort();
  };
  expect(await refusedFiles()).toEqual([]);

  let routerSecret = 'the-old-router-secret';
  let serviceSecret = 'the-old-secret-of-orders';
  const ask = (query: string, variables: object = {}, as = routerSecret) =>
    post(graphqlUrl, JSON.stringify({ query, variables }), {
      'router-authorization': as,
      'x-user-scopes': 'risk:read',
    });
  const askAsService = (as = serviceSecret) =>
    post(graphqlUrl, '{"query":"{ __typename }"}', { authorization: `Bearer ${as}` });
  const statusesOf = async (router: string, service: string) => [
    (await ask('{ __typename }', {}, router)).status,
    (await askAsService(service)).status,
  ];
  const publishedKeys = async () => {
    const { keys } = await (await fetch(urlOf('/.well-known/jwks.json'))).json();
    return keys.map(({ kid }: { kid: string }) => kid);
  };
  const decision = async () => (await ask(DECISION)).data.deviceFingerprint.decision;
  const becomes = (action: string) => expect.poll(decision).toMatchObject({ action });
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
      await setTimeout(20);
    }
  });
  const written = (text: string) => child.stdout().split(text).length - 1;
  const { policy: firstPolicy, ...first } = await decision();
  expect(first).toEqual({ action: 'DENY' });

  await put('router', 'the-old-router-secret,the-new-router-secret');
  await put('services', services('the-old-secret-of-orders', 'the-new-secret-of-orders'));
  await expect.poll(() => statusesOf('the-new-router-secret', 'the-new-secret-of-orders')).toEqual([200, 200]);
  routerSecret = 'the-new-router-secret';
  serviceSecret = 'the-new-secret-of-orders';
  // By then every request with the old ones is over.
  const { asked } = load;
  await expect.poll(() => load.asked).toBeGreaterThan(asked + 2 * clients.length);

  await put('services', services('the-new-secret-of-orders'));
  await put('router', 'the-new-router-secret');
  await put('applications', application('sk_new'));
  await put('captchas', captcha('key_new'));
  await put('keys', JSON.stringify([nextKey, { ...key, state: 'retired' }]));
  await put('policy', policy('CHALLENGE'));
  await expect.poll(() => [seen.fingerprint.at(-1), seen.captcha.at(-1)]).toEqual(['Bearer sk_new', true]);
  await expect.poll(() => statusesOf('the-old-router-secret', 'the-old-secret-of-orders')).toEqual([401, 401]);
  await expect.poll(publishedKeys).toEqual([nextKey.kid, key.kid]);
  await becomes('CHALLENGE');
  expect((await decision()).policy).not.toBe(firstPolicy);

  const KEPT = ['the new secrets cannot be used; the old ones', 'the new risk policy cannot be used; the old one'];
  const keptTimes = () => KEPT.map((text) => written(`${text} stay`));
  await put('captchas', '[{"captchaId":"half');
  await put('policy', policy('BLOCK'));
  await expect.poll(keptTimes).toEqual([1, 1]);
  expect(child.stdout()).toContain(': then: expected ALLOW, CHALLENGE or DENY, but got ');
  const rotations = written('"secrets rotated"');
  await becomes('CHALLENGE');
  expect(await refusedFiles()).toEqual(['policy', 'secrets']);

  await put('policy', policy('ALLOW'));
  await becomes('ALLOW');
  load.on = false;
  await Promise.all(clients);
  // The broken file of captchas was read once more meanwhile, and nothing was said or replaced again.
  await expect.poll(() => written('"risk policy replaced"')).toBe(2);
  expect(await refusedFiles()).toEqual(['secrets']);
  expect([...keptTimes(), written('"secrets rotated"')]).toEqual([1, 1, rotations]);
  expect(seen.captcha.at(-1)).toBe(true);

  expect(failures).toEqual([]);
  expect(load.asked).toBeGreaterThan(10 * clients.length);
  expect(seen.fingerprint).toContain('Bearer sk_old');
  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stdout() + child.stderr()).not.toMatch(/(sk|key)_(old|new)|router-secret|secret-of-orders/);
});
