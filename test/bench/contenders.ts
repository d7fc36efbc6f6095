import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { ROOT } from '../support/process.ts';
import { type Child, start } from './processes.ts';

/** Who is measured: how each is started, and what a router sends to all of them. */
export interface Contender {
  /** On the command line, and in the table. */
  readonly name: string;
  readonly title: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

const ROUTER_SECRET = 'secret-of-the-bench-router';
/** Large enough to count every call and to refuse none. */
const QUOTA = '{"perSecond":999999999,"perDay":999999999}';

/** Keys for this run only. */
const SEALING_KEY = { kty: 'oct', k: randomBytes(32).toString('base64url'), kid: 'bench' };
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ATTESTATION_KEY = { kid: 'bench', state: 'active', ...privateKey.export({ format: 'jwk' }) };

/**
 * Our server's configuration, everything that a production has. What has a default has it: limits, log, metrics, probes of the
 * upstreams, the risk policy.
 */
function production(upstream: string) {
  return {
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    SHUTDOWN_GRACE_MS: '0',
    // As `npm start` has it.
    NODE_COMPILE_CACHE: 'dist/compiled',
    ROUTER_SECRETS: ROUTER_SECRET,
    SERVICES: '[{"name":"orders","secret":"secret-of-the-bench-orders","scopes":["risk:read"]}]',
    TRUSTED_HEADERS: JSON.stringify({
      subject: 'x-user-id',
      scopes: 'x-user-scopes',
      metadata: { ipAddr: { header: 'x-client-ip' }, userAgent: { header: 'x-client-user-agent' } },
    }),
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_bench","secret":"sk_bench","region":"EU"}]',
    FINGERPRINT_URL_EU: upstream,
    FINGERPRINT_QUOTA: QUOTA,
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'b'.repeat(32)}","captchaKey":"key_bench","region":"EU"}]`,
    CAPTCHA_URL_EU: upstream,
    CAPTCHA_QUOTA: QUOTA,
    SEALING_KEYS: JSON.stringify([SEALING_KEY]),
    ATTESTATION:
      '{"issuer":"https://bench.test","audiences":[{"id":"orders","actions":["placeOrder"],"subject":"required"}]}',
    ATTESTATION_KEYS: JSON.stringify([ATTESTATION_KEY]),
  };
}

/** What a router sends with each request. Ours reads all of them, the deployed one the secret. */
export const ROUTER_HEADERS = {
  accept: 'application/json',
  'content-type': 'application/json',
  'user-agent': 'router',
  'router-authorization': ROUTER_SECRET,
  'x-user-id': 'user-4711',
  'x-user-scopes': 'risk:read',
  'x-client-ip': '203.0.113.10',
  'x-client-user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
};

/** As `npm start` and the image have them. Every server gets them. */
const FLAGS = ['--max-semi-space-size=64', '--min-semi-space-size=64'];
export const OURS = 'ours';
export const COPY = 'copy';

/** All of them; with the URL of a quota store also our server that counts there. */
export function contendersFor(upstream: string, store?: string): Contender[] {
  const other = (name: string, title: string, folder = 'contenders'): Contender => ({
    name,
    title,
    script: join(import.meta.dirname, folder, `${name}.ts`),
    env: { NODE_ENV: 'production', UPSTREAM_URL: upstream, ROUTER_SECRET },
  });
  const ours = { ...serverAt('dist/server/main.js', upstream), name: OURS, title: OURS };
  const counting = { ...ours, name: 'store', title: 'ours with a quota store' };
  return [
    ours,
    { ...ours, name: COPY, title: 'an identical copy of ours' },
    ...(store === undefined ? [] : [{ ...counting, env: { ...ours.env, QUOTA_STORE_URL: store } }]),
    other('deployed', 'Mercurius as deployed', '../on-demand'),
    other('mercurius', 'Mercurius without duties', '../on-demand'),
    other('apollo', "Apollo's template"),
  ];
}

/** Our server, started by a path from the project's folder. */
export function serverAt(path: string, upstream: string): Contender {
  return {
    name: path,
    title: path,
    script: resolve(ROOT, path),
    env: { NODE_ENV: 'production', ...production(upstream) },
  };
}

/** The simulated services. */
export const startUpstream = () => start([join(import.meta.dirname, 'upstream.ts')], {});

/** Starts one of them, with the command `core` before it. */
export function startServer({ script, env }: Contender, core: readonly string[] = []): Promise<Child> {
  return start([...FLAGS, '--import', join(import.meta.dirname, 'allocations.ts'), script], env, core);
}
