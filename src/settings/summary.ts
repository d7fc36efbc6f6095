import { ANYONE, areScopesEnforced, ROUTER } from '../callers/settings.ts';
import type { Environment } from '../config/parser.ts';
import { mismatch } from '../config/values.ts';
import { hasRisk } from '../graphql/scopes.ts';
import { propertiesOf } from '../runtime/json.ts';
import type { Slice } from '../slice.ts';
import { type Config, quotaOf, VARIABLES } from './variables.ts';

/** The features in use, in one line, with these slices on. */
export function summaryOf(config: Config, slices: readonly Slice[]) {
  const { quotaStoreUrl, routerSecrets, services } = config;
  const quotas = slices.filter((slice) => quotaOf(slice, config) !== undefined).map(({ name }) => name);
  const replicas = quotaStoreUrl === undefined ? 'each replica alone' : 'all replicas together';
  const callers = [...(routerSecrets.length > 0 ? [ROUTER] : []), ...services.map(({ name }) => name)];
  return [
    `callers: ${[...new Set(callers)].join(' and ') || ANYONE}`,
    `scopes: ${scopesOf(config)}`,
    `upstreams: ${slices.map(({ name }) => name).join(' and ')}`,
    ...slices.flatMap((slice) => slice.summary(config)),
    `quotas: ${quotas.length > 0 ? `${quotas.join(' and ')}, ${replicas}` : 'off'}`,
  ].join('; ');
}

function scopesOf(config: Config): string {
  if (!areScopesEnforced(config)) return 'not enforced';
  if (config.services.length > 0 && config.routerSecrets.length === 0) return 'enforced';
  const header = config.trustedHeaders?.scopes;
  return header === undefined ? 'enforced, and none for requests of the router' : `enforced by the header ${header}`;
}

/** A warning about unrestricted access to signals, with the remedy; undefined if access is restricted, or no slice has signals. */
export function exposureOf(config: Config, slices: readonly Slice[]): string | undefined {
  if (config.upstreamMode === 'sandbox' || areScopesEnforced(config)) return undefined;
  if (!slices.some(({ typeDefs }) => hasRisk(typeDefs))) return undefined;
  return config.allowDirectAccess
    ? 'Anyone with access to this port can query and read signals: set ROUTER_SECRETS in place of ALLOW_DIRECT_ACCESS.'
    : 'Everybody behind the router can read signals: name the header with their scopes in TRUSTED_HEADERS, or publish to browsers only the graph without the tag risk.';
}

/** The problem with the address that a start could not listen on; undefined for any other error. */
export function listenProblem(error: unknown, config: Partial<Config>): string | undefined {
  const { host, port, adminPort } = config;
  const { syscall, code, hostname, address = hostname, port: failed } = propertiesOf(error);
  const isListening = syscall === 'listen';
  const isOfAnotherMachine = isListening
    ? /^E(ADDRNOTAVAIL|AFNOSUPPORT|INVAL)$/.test(`${code}`)
    : hostname !== undefined && hostname === host;
  if (isOfAnotherMachine) return mismatch('HOST', VARIABLES.host.expected, JSON.stringify(address));
  if (!isListening) return undefined;
  const why = { EADDRINUSE: 'is taken', EACCES: 'needs a privilege' }[String(code)] ?? `fails with ${code}`;
  const name = { [`${adminPort}`]: 'ADMIN_PORT', [`${port}`]: 'PORT' }[`${failed}`];
  if (name === undefined) return `SANDBOX_PORT: expected three free ports from this one on, but ${failed} ${why}.`;
  return `${name}: expected a free port, but ${failed} ${why}.`;
}

/** An address of this machine. A port alone is such an address. */
const LOCAL = String.raw`(\d+|(localhost|127(\.\d+){3}|\[::1\])(:\d+)?)(?=\s|$)`;

/** Switches of Node that undo a promise of live mode, each with its effect. */
const UNSAFE: readonly (readonly [form: RegExp, effect: string])[] = [
  [/--insecure-http-parser\b/, 'accepts requests that proxies read in another way'],
  [new RegExp(`--inspect(-brk|-wait|-port)?[= ](?!-|${LOCAL})`), 'opens the debugger to other machines'],
];

/** A sentence for each switch of Node, and of a library, that live mode refuses. */
export function unsafeSwitches(env: Environment, execArgv: readonly string[]): string[] {
  const sources = { NODE_OPTIONS: env['NODE_OPTIONS'] ?? '', 'the command line': execArgv.join(' ') };
  const problems = Object.entries(sources).flatMap(([source, text]) =>
    UNSAFE.flatMap(([form, effect]) => {
      const [found] = form.exec(text) ?? [];
      return found ? [`${source}: expected no ${found.split(/[= ]/, 1)}, but got it, which ${effect}.`] : [];
    }),
  );
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED: expected nothing, but got 0, which lets any server pose as the service.',
    );
  // DEBUG lists modules that log to stderr. ioredis is the client of the store.
  const hasStore = Boolean(env['QUOTA_STORE_URL'] || env['QUOTA_STORE_URL_FILE']);
  if (hasStore && /(^|[\s,])(\*|ioredis)/.test(env['DEBUG'] ?? ''))
    problems.push(
      'DEBUG: expected a value without ioredis, but got one with it, which writes the password of the store to the log.',
    );
  return problems;
}
