import { namedKinds } from '../callers/identity.ts';
import { LIMITS, ofRequester, type QuotaLimits } from '../callers/limits.ts';
import { ADDRESS_KEYS, CALLER_VARIABLES } from '../callers/settings.ts';
import { type Environment, type RuleInput, readVariables } from '../config/parser.ts';
import { address, choice, isLocalHost, port, type Table, type Values } from '../config/values.ts';
import { COST_VARIABLES } from '../graphql/settings.ts';
import { areTracesOff, TELEMETRY_VARIABLES } from '../observability/settings.ts';
import { SERVER_VARIABLES } from '../server/settings.ts';
import type { Slice } from '../slice.ts';
import { SLICES, type SliceRows } from '../slices.ts';
import { UPSTREAM_VARIABLES } from '../upstream/settings.ts';

const COMMON = {
  upstreamMode: { name: 'UPSTREAM_MODE', ...choice('live', 'sandbox'), default: 'live' },
  sandboxPort: { name: 'SANDBOX_PORT', ...port(65_533), default: '4100' },
  ...SERVER_VARIABLES,
  ...CALLER_VARIABLES,
  ...UPSTREAM_VARIABLES,
  ...COST_VARIABLES,
  ...TELEMETRY_VARIABLES,
} as const satisfies Table;

type Rows = typeof COMMON & SliceRows;

export type Config = Values<Rows>;

/** Every variable. The parser, the type `Config` and the check of names follow from the rows. `deploy/README.md` explains them. */
export const VARIABLES = tableOf(SLICES);

/** The variables of a subgraph that knows these slices. */
function tableOf(slices: readonly Slice[]): Rows {
  // Safe: the rows of SLICES are those of the type, and no other slice may leave a row out.
  return Object.assign({}, COMMON, ...slices.map(({ variables }) => variables)) as Rows;
}

/** The configuration of a server that knows these slices, of which only `chosen` may be on. @throws ConfigError */
export function parseConfig(
  env: Environment,
  readFile: (path: string) => string,
  slices: readonly Slice[] = SLICES,
  chosen = slices,
): Config {
  const table = tableOf(slices);
  const config = readVariables(env, readFile, table, (input) => addProblems(input, table, slices, chosen));
  return areTracesOff(env) ? { ...config, otlpEndpoint: undefined } : config;
}

/** The slices that are on with this configuration. The sandbox has accounts for each. */
export function slicesOn(config: Config, chosen: readonly Slice[]): readonly Slice[] {
  const values: Values<Table> = config;
  const hasAccounts = ({ accounts }: Slice) => Object.keys(values[accounts] ?? []).length > 0;
  return config.upstreamMode === 'sandbox' ? chosen : chosen.filter(hasAccounts);
}

/** The quota of a slice; undefined without limits. */
export function quotaOf({ quota }: Slice, config: Partial<Values<Table>>): QuotaLimits | undefined {
  // Safe: the variable of each quota has this type.
  return config[quota] as QuotaLimits | undefined;
}

function addProblems(rows: RuleInput<Rows>, table: Table, slices: readonly Slice[], chosen: readonly Slice[]): void {
  const { upstreamMode, port, adminPort, allowDirectAccess, routerSecrets = [], services = [] } = rows.values;
  const isLive = upstreamMode === 'live';
  // The same input, typed for the variables of any slice.
  const input: RuleInput<Table> = rows;
  const { refuse, isSet, placeholders } = input;
  const nameOf = (key: string) => table[key]?.name ?? key;

  // Both ports belong to `HOST`.
  refuse(Boolean(port) && port === adminPort, 'adminPort', 'another port than PORT', `${port} for both`);

  for (const slice of slices) {
    const given = Object.keys(slice.variables).filter(isSet);
    if (!chosen.includes(slice)) {
      for (const key of given) refuse(true, key, `no value without the service ${slice.name}`, 'one');
      continue;
    }
    const isHalf = isLive && given.length > 0 && !isSet(slice.accounts);
    const [other = ''] = given;
    refuse(isHalf, slice.accounts, `${table[slice.accounts]?.expected}`, `nothing, although ${nameOf(other)} is set`);
    slice.rules(input, isLive);
  }
  const [first, ...others] = chosen.map(({ accounts }) => accounts);
  const inUse = chosen.filter(({ variables }) => !isLive || Object.keys(variables).some(isSet));
  const either = ['it', ...others.map(nameOf)].join(' or ');
  const nothing = others.length > 0 ? 'neither' : 'nothing';
  if (first) refuse(inUse.length === 0, first, either, `${nothing} (npm run dev needs no variables)`);

  // Metadata has no effect if no service receives it, apart from the address of a requester.
  const isIdle = inUse.length > 0 && !inUse.some(({ usesMetadata }) => usesMetadata);
  const ofAddress = `no metadata but an IP address with the service ${inUse.map(({ name }) => name).join(' and ')} alone`;
  for (const key of Object.keys(rows.values.trustedHeaders?.metadata ?? {}))
    refuse(isIdle && !ADDRESS_KEYS.includes(key), 'trustedHeaders', ofAddress, key);

  // The store counts quotas, and nothing else.
  const quotas = chosen.map(({ quota }) => quota);
  const missing = `${quotas.map(nameOf).join(' or ')} as well`;
  refuse(isSet('quotaStoreUrl') && !quotas.some(isSet), 'quotaStoreUrl', missing, 'neither');

  // Without such a header, requesters cannot be distinguished.
  const byRequester = LIMITS.filter(({ shares }) => shares === ofRequester).map(({ name }) => name);
  const isCounted = (limits?: QuotaLimits) => byRequester.some((name) => limits?.[name] !== undefined);
  const namesNobody = namedKinds(rows.values.trustedHeaders ?? {}).length === 0;
  const naming = `a person or an address for ${byRequester.join(' and ')}`;
  const isNeeded =
    chosen.some((slice) => isCounted(quotaOf(slice, rows.values))) || services.some(({ quota }) => isCounted(quota));
  refuse(isNeeded && namesNobody, 'trustedHeaders', naming, 'neither');

  // A secret identifies its caller.
  for (const [index, { secret }] of services.entries())
    refuse(routerSecrets.includes(secret), 'services', 'no secret of ROUTER_SECRETS', `one at ${index}.secret`);

  // Real accounts are for the real services, and real keys never sign or seal an answer of the sandbox.
  const isSandbox = upstreamMode === 'sandbox';
  for (const [key, { live }] of Object.entries(table))
    refuse(isSandbox && live === true && isSet(key), key, 'no value with UPSTREAM_MODE=sandbox', 'one');
  if (!isLive) return;

  const hasSecrets = isSet('routerSecrets') || isSet('services');
  const access = 'either secrets here or in SERVICES, or ALLOW_DIRECT_ACCESS=true';
  refuse(allowDirectAccess === hasSecrets, 'routerSecrets', access, allowDirectAccess ? 'both' : 'neither');
  // Without a secret no caller is trusted, so the headers would have no effect.
  refuse(isSet('trustedHeaders') && !hasSecrets, 'trustedHeaders', 'ROUTER_SECRETS or SERVICES as well', 'neither');
  // Trial secrets are public. Services have to be on this machine, and so does the port unless all accounts are trial accounts.
  const isOnThisMachine = ({ variables }: Slice) =>
    Object.entries(variables).every(([key, { schema }]) => {
      const value = schema === address.schema ? input.values[key] : undefined;
      return typeof value !== 'string' || isLocalHost(new URL(value).hostname);
    });
  const withAccounts = chosen.filter(({ accounts }) => isSet(accounts));
  const isTrial = ({ accounts }: Slice) => placeholders.some(({ key, isForTrial }) => isForTrial && key === accounts);
  const isPortSafe = isLocalHost(rows.values.host ?? '') || withAccounts.every(isTrial);
  for (const { key, own, isForTrial } of placeholders) {
    const slice = slices.find(({ variables }) => key in variables);
    const isSafe = slice ? isOnThisMachine(slice) : isPortSafe && withAccounts.every(isOnThisMachine);
    refuse(!isForTrial || !isSafe, key, own, 'a placeholder from the documentation');
  }
}
