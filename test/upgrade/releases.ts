import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Variable } from '../../src/config/values.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Slice } from '../../src/slice.ts';
import { SLICES } from '../../src/slices.ts';
import { SERVICE } from '../config/support.ts';
import { ROOT, startCommand } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { checkOutLastRelease } from './last-release.ts';

/** Servers of the last release and of this one, with the same services, keys and store. */

/** Calls of one account a day. */
const QUOTA = 5_000;
export const ROUTER_SECRET = 'a-secret-of-the-router';
export const ISSUER = 'https://device-trust.test';
const { folder: last, changes } = await checkOutLastRelease();
const { urls, stop } = await startSandbox({ port: 0 });
const redis = await startRedis();
const store = new Redis(redis.url);
const ends = [() => store.disconnect(), redis.stop, stop, () => rm(last, { recursive: true })];
export const endAll = () => Promise.all(ends.map((end) => end()));
export { last, store, urls };

/** What a release exports. */
const load = (folder: string, file: string) => import(join(folder, 'src', file));
const { generateKey } = await load(last, 'captcha/attestation.ts');
const { newSealingKey } = await load(last, 'fingerprint/sealed-judgement.ts');
/** The variables that have no default, with keys of the last release, and those that depend on the machine. */
const VALUES: Readonly<Record<string, string>> = {
  FINGERPRINT_APPLICATIONS: JSON.stringify(SANDBOX_APPLICATIONS.slice(0, 3)),
  CAPTCHA_CONFIGURATIONS: JSON.stringify(SANDBOX_CAPTCHAS.slice(0, 3)),
  ROUTER_SECRETS: `${ROUTER_SECRET},another-secret-of-the-router`,
  TRUSTED_HEADERS: '{"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}',
  SERVICES: JSON.stringify([SERVICE]),
  RISK_POLICY_FILE: 'deploy/kubernetes/components/risk-policy/policy.json',
  ATTESTATION: `{"issuer":"${ISSUER}","audiences":[{"id":"orders","actions":["placeOrder"],"subject":"required"}]}`,
  ATTESTATION_KEYS: JSON.stringify([generateKey('active'), generateKey('next')]),
  SEALING_KEYS: JSON.stringify([newSealingKey(), newSealingKey()]),
  FINGERPRINT_QUOTA: `{"perSecond":${QUOTA},"perDay":${QUOTA}}`,
  CAPTCHA_QUOTA: `{"perDay":${QUOTA}}`,
  QUOTA_STORE_URL: redis.url,
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', // Nobody is there, which keeps no process from starting.
  OTEL_SERVICE_NAME: 'device-trust',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=live,service.namespace=shop',
  LOG_HASH_KEY: 'a-key-for-hashes-of-tokens',
  PORT: '0',
  ADMIN_PORT: '0',
  SHUTDOWN_GRACE_MS: '500',
};

/** Every variable of a release, with a value. */
async function configurationOf(folder: string) {
  const { VARIABLES } = await load(folder, 'settings/variables.ts');
  return Object.values<Variable>(VARIABLES).map(({ name, default: fallback }): [string, string] => {
    const [, region] = name.split('_URL_');
    const value = VALUES[name] ?? Object.entries(urls).find(([one]) => one === region)?.[1] ?? fallback;
    if (value === undefined) throw new Error(`expected a value for ${name}, but got none`);
    return [name, name.endsWith('_FILE') ? join(folder, value) : value];
  });
}

/** A release with the other one's configuration of these services, but for what the changelog names since. Rejects with its mistakes. */
async function start(folder: string, other: string, slices: readonly Slice[]) {
  const isNamed = ([name]: [string, string]) => changes.includes(`\`${name}\``);
  const absent = SLICES.filter((slice) => !slices.includes(slice)).flatMap(({ variables }) =>
    Object.values<Variable>(variables).map(({ name }) => name),
  );
  const [own, others] = [await configurationOf(folder), await configurationOf(other)];
  const configuration = [...others.filter((one) => !isNamed(one)), ...own.filter(isNamed)];
  const env = Object.fromEntries(configuration.filter(([name]) => !absent.includes(name)));
  const child = startCommand([process.execPath, 'src/main.ts'], { cwd: folder, env });
  ends.push(child.stop);
  const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/);
  const statusOf = async (path: string) => (await fetch(new URL(path, url))).status;
  while ((await statusOf('/readyz')) !== 200) await sleep(50);
  return { ...child, url, statusOf, jwksUrl: new URL('/.well-known/jwks.json', url).href };
}
export const startLast = (slices: readonly Slice[] = SLICES) => start(last, ROOT, slices);
export const startThis = (slices: readonly Slice[] = SLICES) => start(ROOT, last, slices);
