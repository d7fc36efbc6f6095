import { propertiesOf } from '../runtime/json.ts';
import { SANDBOX_ATTESTATION_KEY, SANDBOX_SEALING_KEY } from './sandbox-keys.ts';
import { expectedBut, type Region } from './values.ts';
import { type Config, VARIABLES } from './variables.ts';

/** What concerns several variables. */

const urlKey = (service: 'fingerprint' | 'captcha', region: Region) => `${service}Url${region}` as const;

type Accounts = Pick<Config, 'fingerprintApplications' | 'captchaConfigurations' | ReturnType<typeof urlKey>>;

/** Joins each account of live mode with the address of its region, which a parsed configuration has. */
export function accountsOf(config: Accounts) {
  const addressOf = (...[service, region]: Parameters<typeof urlKey>) => {
    const baseUrl = config[urlKey(service, region)];
    if (baseUrl === undefined) throw new Error(`expected an address for region ${region}, but got none`);
    return { baseUrl };
  };
  return {
    applications: config.fingerprintApplications.map((one) => ({ ...one, ...addressOf('fingerprint', one.region) })),
    captchas: config.captchaConfigurations.map((one) => ({ ...one, ...addressOf('captcha', one.region) })),
  };
}

/** A sentence for each rule that is broken. `values` are those that could be read; `isSet` also knows those that could not. */
export function brokenRules(values: Partial<Config>, isSet: (key: keyof Config) => boolean): string[] {
  const problems = new Set<string>();
  const refuse = (isBroken: boolean, key: keyof Config, expected: string, got: string) => {
    if (isBroken) problems.add(expectedBut(VARIABLES[key].name, expected, got));
  };
  const { upstreamMode, port, adminPort, allowDirectAccess, trustedHeaders } = values;
  const { routerSecrets = [], services = [], fingerprintApplications = [], captchaConfigurations = [] } = values;
  const { sealingKeys = [], attestationKeys = [] } = values;
  const { audiences = [] } = values.attestation ?? {};

  // Both ports belong to `HOST`.
  refuse(Boolean(port) && port === adminPort, 'adminPort', 'another port than PORT', `${port} for both`);

  // Whoever names a store expects a quota.
  const hasQuota = isSet('fingerprintQuota') || isSet('captchaQuota');
  const quotas = 'it beside FINGERPRINT_QUOTA or CAPTCHA_QUOTA';
  refuse(isSet('quotaStoreUrl') && !hasQuota, 'quotaStoreUrl', quotas, 'neither');

  // A secret says who asks.
  for (const [index, { secret }] of services.entries())
    refuse(routerSecrets.includes(secret), 'services', 'no secret of ROUTER_SECRETS', `one at ${index}.secret`);

  // Every request for such an audience would be refused.
  const isNameless = trustedHeaders ? trustedHeaders.subject === undefined : !isSet('trustedHeaders');
  for (const { id, subject } of audiences) {
    const person = `"subject" in TRUSTED_HEADERS for the audience "${id}", or "subject":"optional" for it`;
    refuse(isNameless && subject === 'required', 'attestation', person, 'neither');
  }

  if (upstreamMode === 'sandbox') {
    // Whoever sets real accounts expects the real services. What the sandbox says must not be signed or sealed with real keys.
    for (const key of ['fingerprintApplications', 'captchaConfigurations', 'attestationKeys', 'sealingKeys'] as const)
      refuse(isSet(key), key, 'it to be absent while UPSTREAM_MODE is sandbox', 'a value');
  }
  if (upstreamMode !== 'live') return [...problems];

  for (const key of ['fingerprintApplications', 'captchaConfigurations'] as const)
    refuse(!isSet(key), key, VARIABLES[key].expected, 'nothing');
  const addresses = [
    ...fingerprintApplications.map(({ region }) => ({ region, key: urlKey('fingerprint', region) })),
    ...captchaConfigurations.map(({ region }) => ({ region, key: urlKey('captcha', region) })),
  ];
  for (const { region, key } of addresses)
    refuse(!isSet(key), key, VARIABLES[key].expected, `nothing, although region ${region} is in use`);

  // It has to say who may ask, in exactly one way.
  const hasSecrets = isSet('routerSecrets') || isSet('services');
  const access = 'either secrets here or in SERVICES, or ALLOW_DIRECT_ACCESS=true';
  refuse(allowDirectAccess === hasSecrets, 'routerSecrets', access, allowDirectAccess ? 'both' : 'neither');
  // Nobody is trusted without a secret, so the headers would have no effect.
  const isTrustUnused = isSet('trustedHeaders') && !hasSecrets;
  refuse(isTrustUnused, 'trustedHeaders', 'it beside ROUTER_SECRETS or SERVICES', 'neither');

  // Whoever has one opens every judgement, or attests every captcha.
  const sealsInPublic = sealingKeys.some(({ k }) => k === SANDBOX_SEALING_KEY.k);
  refuse(sealsInPublic, 'sealingKeys', 'keys of your own', 'the key of the sandbox, which is public');
  const signsInPublic = attestationKeys.some(({ x }) => x === SANDBOX_ATTESTATION_KEY.x);
  refuse(signsInPublic, 'attestationKeys', 'keys of your own', 'the key of the sandbox, which is public');

  // What is in every address is no secret.
  const publicKeys = new Set(fingerprintApplications.map(({ publicKey }) => publicKey));
  for (const [index, { secret }] of fingerprintApplications.entries())
    refuse(publicKeys.has(secret), 'fingerprintApplications', 'no public key as a secret', `one at ${index}.secret`);
  const known = new Set(captchaConfigurations.map(({ captchaId }) => captchaId));
  for (const [index, { captchaKey }] of captchaConfigurations.entries())
    refuse(known.has(captchaKey), 'captchaConfigurations', 'no captcha id as a key', `one at ${index}.captchaKey`);

  // Audiences without keys, or keys without audiences, would attest nothing.
  const isHalf = isSet('attestation') !== isSet('attestationKeys');
  refuse(isHalf, 'attestation', 'it together with ATTESTATION_KEYS', 'one of them');
  // A captcha id that is not configured would never count.
  for (const { id, captchaIds = [] } of values.captchaConfigurations ? audiences : []) {
    const isUnknown = captchaIds.some((captchaId) => !known.has(captchaId));
    refuse(isUnknown, 'attestation', `captcha ids of CAPTCHA_CONFIGURATIONS for the audience "${id}"`, 'another one');
  }
  return [...problems];
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
    return expectedBut(name, expected, JSON.stringify(address));
  }
  if (!isListening) return undefined;
  const why = { EADDRINUSE: 'is taken', EACCES: 'needs a privilege' }[String(code)] ?? `fails with ${code}`;
  const name = { [`${adminPort}`]: 'ADMIN_PORT', [`${port}`]: 'PORT' }[`${failed}`];
  if (name === undefined) return `SANDBOX_PORT: expected three free ports from this one on, but ${failed} ${why}.`;
  return `${name}: expected a free port, but ${failed} ${why}.`;
}
