import { CAPTCHA_VARIABLES, captchaRules } from '../captcha/settings.ts';
import { type Environment, type RuleInput, readVariables } from '../config/parser.ts';
import { anyText, choice, port, type Table, type Values } from '../config/values.ts';
import { FINGERPRINT_VARIABLES, fingerprintRules } from '../fingerprint/settings.ts';
import { COST_VARIABLES } from '../graphql/settings.ts';
import { areTracesOff, LOG_VARIABLES, TRACING_VARIABLES } from '../observability/settings.ts';
import { SERVER_VARIABLES } from '../server/settings.ts';
import { type Region, UPSTREAM_VARIABLES } from '../upstream/settings.ts';

/** Every variable. The parser, the type `Config` and the check of names follow from the rows. `deploy/README.md` explains them. */
export const VARIABLES = {
  upstreamMode: { name: 'UPSTREAM_MODE', ...choice('live', 'sandbox'), default: 'live' },
  sandboxHost: { name: 'SANDBOX_HOST', ...anyText('an address of this machine'), default: '127.0.0.1' },
  sandboxPort: { name: 'SANDBOX_PORT', ...port(65_533), default: '4100' },
  ...SERVER_VARIABLES,
  ...FINGERPRINT_VARIABLES,
  ...CAPTCHA_VARIABLES,
  ...UPSTREAM_VARIABLES,
  ...COST_VARIABLES,
  ...LOG_VARIABLES,
  ...TRACING_VARIABLES,
} as const satisfies Table;

type Rows = typeof VARIABLES;

export type Config = Values<Rows>;

/** The configuration of a server. @throws ConfigError */
export function parseConfig(env: Environment, readFile: (path: string) => string): Config {
  const config = readVariables(env, readFile, VARIABLES, rules);
  return areTracesOff(env) ? { ...config, otlpEndpoint: undefined } : config;
}

// Sound: the keys of an object literal are those of its type.
const ROWS = Object.entries(VARIABLES) as readonly (readonly [keyof Rows, Table[string]])[];

function rules(input: RuleInput<Rows>): void {
  const { values, isSet, refuse, refusePlaceholders } = input;
  const { upstreamMode, port, adminPort, allowDirectAccess, trustedHeaders, attestation } = values;
  const { routerSecrets = [], services = [] } = values;

  // Both ports belong to `HOST`.
  refuse(Boolean(port) && port === adminPort, 'adminPort', 'another port than PORT', `${port} for both`);

  // A store without a quota would have no effect.
  const hasQuota = isSet('fingerprintQuota') || isSet('captchaQuota');
  const quotas = 'FINGERPRINT_QUOTA or CAPTCHA_QUOTA as well';
  refuse(isSet('quotaStoreUrl') && !hasQuota, 'quotaStoreUrl', quotas, 'neither');

  // A secret identifies its caller.
  for (const [index, { secret }] of services.entries())
    refuse(routerSecrets.includes(secret), 'services', 'no secret of ROUTER_SECRETS', `one at ${index}.secret`);

  // Every request for such an audience would be refused.
  const isNameless = trustedHeaders ? trustedHeaders.subject === undefined : !isSet('trustedHeaders');
  for (const { id, subject } of attestation?.audiences ?? []) {
    const person = `"subject" in TRUSTED_HEADERS for the audience "${id}", or "subject":"optional" for it`;
    refuse(isNameless && subject === 'required', 'attestation', person, 'neither');
  }

  // Real accounts are for the real services, and real keys never sign or seal an answer of the sandbox.
  for (const [key, { live, expected }] of ROWS) {
    const isReal = upstreamMode === 'sandbox' && live !== undefined && isSet(key);
    refuse(isReal, key, 'no value with UPSTREAM_MODE=sandbox', 'one');
    refuse(upstreamMode === 'live' && live === 'required' && !isSet(key), key, expected, 'nothing');
  }
  if (upstreamMode !== 'live') return;

  fingerprintRules(input);
  captchaRules(input);

  // Access is by secrets or direct.
  const hasSecrets = isSet('routerSecrets') || isSet('services');
  const access = 'either secrets here or in SERVICES, or ALLOW_DIRECT_ACCESS=true';
  refuse(allowDirectAccess === hasSecrets, 'routerSecrets', access, allowDirectAccess ? 'both' : 'neither');
  // Without a secret no caller is trusted, so the headers would have no effect.
  const isTrustUnused = isSet('trustedHeaders') && !hasSecrets;
  refuse(isTrustUnused, 'trustedHeaders', 'ROUTER_SECRETS or SERVICES as well', 'neither');
  refusePlaceholders();
}

/** Joins each account of live mode with the address of its region, which a parsed configuration has. */
export function accountsOf(config: Config) {
  const addressOf = (service: 'fingerprint' | 'captcha', region: Region) => {
    const baseUrl = config[`${service}Url${region}`];
    if (baseUrl === undefined) throw new Error(`expected an address for region ${region}, but got none`);
    return { baseUrl };
  };
  return {
    applications: config.fingerprintApplications.map((one) => ({ ...one, ...addressOf('fingerprint', one.region) })),
    captchas: config.captchaConfigurations.map((one) => ({ ...one, ...addressOf('captcha', one.region) })),
  };
}
