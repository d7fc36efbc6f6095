import { createHash, scryptSync } from 'node:crypto';
import { mismatch, type Table } from '../config/values.ts';
import { propertiesOf } from '../runtime/json.ts';
import { ANYONE, ROUTER } from '../server/settings.ts';
import { type Config, VARIABLES } from './variables.ts';

/** The messages of a start about its configuration. */

/** The features in use, in one line; `policy` is the id of the risk policy. */
export function summaryOf(config: Config, policy: string): string {
  const { attestation, sealingKeys, fingerprintQuota, captchaQuota, quotaStoreUrl, riskPolicyFile } = config;
  const otherwise = config.upstreamMode === 'sandbox' ? 'of the sandbox' : 'off';
  const quotas = [fingerprintQuota && 'fingerprint', captchaQuota && 'captcha'].filter(Boolean).join(' and ');
  const replicas = quotaStoreUrl === undefined ? 'each replica alone' : 'all replicas together';
  const callers = [...(config.routerSecrets.length > 0 ? [ROUTER] : []), ...config.services.map(({ name }) => name)];
  return [
    `callers: ${[...new Set(callers)].join(' and ') || ANYONE}`,
    `scopes: ${scopesOf(config) ?? 'not enforced'}`,
    `sealing: ${sealingKeys.length > 0 ? 'on' : otherwise}`,
    `attestation: ${attestation ? `for ${attestation.audiences.map(({ id }) => id).join(' and ')}` : otherwise}`,
    `quotas: ${quotas ? `${quotas}, ${replicas}` : 'off'}`,
    `policy: ${riskPolicyFile === undefined ? 'built-in' : `${policy} in ${riskPolicyFile}`}`,
    `fail-open: ${config.captchaFailOpen}${config.captchaFailOpen === 'faults' ? `, ${sharesOf(config)}` : ''}`,
  ].join('; ');
}

/** How scopes are enforced; undefined if they are not. */
function scopesOf({ trustedHeaders, services, routerSecrets }: Config): string | undefined {
  if (trustedHeaders?.scopes !== undefined) return `enforced by the header ${trustedHeaders.scopes}`;
  if (services.length === 0) return undefined;
  return routerSecrets.length > 0 ? 'enforced, and none for requests of the router' : 'enforced';
}

/** The shares of the fail-open budget. Only trusted headers tell one requester from another. */
function sharesOf({ trustedHeaders: { subject, metadata = {} } = {} }: Config): string {
  const hasAddress = ['ipAddr', 'ipAddrV4', 'ipAddrV6'].some((key) => key in metadata);
  const each = [subject !== undefined && 'person', hasAddress && 'network'].filter(Boolean).join(' and ');
  return each ? `with a share for each ${each}` : 'and one client can use up the budget';
}

/** A warning about unrestricted access to signals, with the remedy; undefined if access is restricted. */
export function exposureOf(config: Config): string | undefined {
  if (config.upstreamMode === 'sandbox' || scopesOf(config)) return undefined;
  return config.allowDirectAccess
    ? 'Anyone with access to this port can query and read signals: set ROUTER_SECRETS in place of ALLOW_DIRECT_ACCESS.'
    : 'Everybody behind the router can read signals: name the header with their scopes in TRUSTED_HEADERS, or publish to browsers only the graph without the tag risk.';
}

/** The sentence about the address that a start could not listen on. Undefined for any other error. */
export function listenProblem(error: unknown, config: Partial<Config>): string | undefined {
  const { host, sandboxHost, port, adminPort } = config;
  const { syscall, code, hostname, address = hostname, port: failed } = propertiesOf(error);
  const isListening = syscall === 'listen';
  const isOfAnotherMachine = isListening
    ? /^E(ADDRNOTAVAIL|AFNOSUPPORT|INVAL)$/.test(`${code}`)
    : hostname !== undefined && [host, sandboxHost].includes(`${hostname}`);
  if (isOfAnotherMachine) {
    const { name, expected } = VARIABLES[address === sandboxHost ? 'sandboxHost' : 'host'];
    return mismatch(name, expected, JSON.stringify(address));
  }
  if (!isListening) return undefined;
  const why = { EADDRINUSE: 'is taken', EACCES: 'needs a privilege' }[String(code)] ?? `fails with ${code}`;
  const name = { [`${adminPort}`]: 'ADMIN_PORT', [`${port}`]: 'PORT' }[`${failed}`];
  if (name === undefined) return `SANDBOX_PORT: expected three free ports from this one on, but ${failed} ${why}.`;
  return `${name}: expected a free port, but ${failed} ${why}.`;
}

const ROWS: Table = VARIABLES;

/** 12 hexadecimal digits for the configuration, and for all secrets together, by which replicas are compared. */
export function hashesOf({ host: _, otelResourceAttributes: __, ...common }: Config) {
  const { secret, open } = Object.groupBy(Object.entries(common).sort(), ([key]) =>
    ROWS[key]?.secret ? 'secret' : 'open',
  );
  const configuration = createHash('sha256').update(JSON.stringify(open)).digest('hex').slice(0, 12);
  // A slow hash, 14 ms, so that an attacker with all secrets but one cannot guess that one cheaply.
  const secrets = scryptSync(JSON.stringify(secret), 'device-trust', 6, { cost: 4_096 }).toString('hex');
  return { configuration, secrets };
}
