import { CAPTCHA_URLS, FINGERPRINT_URLS } from './accounts.ts';
import { expectedBut } from './sentences.ts';
import { RATIO_SAMPLERS } from './telemetry.ts';
import { type Config, VARIABLES } from './variables.ts';

/** The rules that span several variables. */

const CREDENTIALS = ['fingerprintApplications', 'captchaConfigurations'] as const;

/**
 * A sentence for each rule that is broken. The rules of a mode apply only if the mode can be read.
 *
 * @param values the values that could be read
 * @param isSet is this variable set, whether or not its value could be read?
 */
export function brokenRules(values: Partial<Config>, isSet: (key: keyof Config) => boolean): string[] {
  return [
    ...samePort(values),
    ...unusedStore(isSet),
    ...unusedShare(values, isSet),
    ...sharedSecrets(values),
    ...halfAttestation(isSet),
    ...rulesOfMode(values, isSet),
  ];
}

/** Both ports belong to `HOST`, so they have to differ. */
function samePort({ port, adminPort }: Partial<Config>): string[] {
  if (port === undefined || port === 0 || port !== adminPort) return [];
  return [expectedBut(VARIABLES.adminPort.name, `another port than ${VARIABLES.port.name}`, `${port} for both`)];
}

/** Whoever names a store expects a quota, so a missing one is a mistake. */
function unusedStore(isSet: (key: keyof Config) => boolean): string[] {
  const { quotaStoreUrl, fingerprintQuota, captchaQuota } = VARIABLES;
  if (!isSet('quotaStoreUrl') || isSet('fingerprintQuota') || isSet('captchaQuota')) return [];
  return [expectedBut(quotaStoreUrl.name, `it beside ${fingerprintQuota.name} or ${captchaQuota.name}`, 'neither')];
}

/** Whoever sets a share of the traces expects that it counts, and only two samplers use it. */
function unusedShare({ otelTracesSampler: sampler }: Partial<Config>, isSet: (key: keyof Config) => boolean): string[] {
  if (!isSet('otelTracesSamplerArg') || sampler === undefined || RATIO_SAMPLERS.includes(sampler)) return [];
  const { otelTracesSamplerArg, otelTracesSampler } = VARIABLES;
  const expected = `it beside ${otelTracesSampler.name}=${RATIO_SAMPLERS.join(' or ')}`;
  return [expectedBut(otelTracesSamplerArg.name, expected, `beside ${sampler}`)];
}

/** A secret says who asks, so the router and a service cannot have the same one. */
function sharedSecrets({ routerSecrets = [], services = [] }: Partial<Config>): string[] {
  const own = `no secret of ${VARIABLES.routerSecrets.name}`;
  return services.flatMap(({ secret }, index) =>
    routerSecrets.includes(secret) ? expectedBut(VARIABLES.services.name, own, `one at ${index}.secret`) : [],
  );
}

/** Audiences without keys, or keys without audiences, would attest nothing. */
function halfAttestation(isSet: (key: keyof Config) => boolean): string[] {
  const { attestation, attestationKeys } = VARIABLES;
  if (isSet('attestation') === isSet('attestationKeys')) return [];
  return [expectedBut(attestation.name, `it together with ${attestationKeys.name}`, 'one of them')];
}

/** A captcha id of an audience that is not configured would never count, and nobody would notice. */
function unknownCaptchas({ attestation, captchaConfigurations }: Partial<Config>): string[] {
  if (!captchaConfigurations) return [];
  const known = new Set(captchaConfigurations.map(({ captchaId }) => captchaId));
  const { name } = VARIABLES.captchaConfigurations;
  return (attestation?.audiences ?? []).flatMap(({ id, captchaIds = [] }) =>
    captchaIds.some((captchaId) => !known.has(captchaId))
      ? [expectedBut(VARIABLES.attestation.name, `captcha ids of ${name} for the audience "${id}"`, 'another one')]
      : [],
  );
}

function rulesOfMode(values: Partial<Config>, isSet: (key: keyof Config) => boolean): string[] {
  const { upstreamMode } = values;
  if (upstreamMode === undefined) return [];
  if (upstreamMode === 'sandbox') return presentCredentials(isSet);
  return [
    ...missingCredentials(isSet),
    ...accessRule(values, isSet),
    ...unusedHeaders(isSet),
    ...missingAddresses(values, isSet),
    ...unknownCaptchas(values),
  ];
}

/** Whoever sets real credentials expects the real services, so the sandbox must not answer in their place. */
function presentCredentials(isSet: (key: keyof Config) => boolean): string[] {
  const absent = `it to be absent while ${VARIABLES.upstreamMode.name} is sandbox`;
  return CREDENTIALS.filter(isSet).map((key) => expectedBut(VARIABLES[key].name, absent, 'a value'));
}

function missingCredentials(isSet: (key: keyof Config) => boolean): string[] {
  return CREDENTIALS.filter((key) => !isSet(key)).map((key) =>
    expectedBut(VARIABLES[key].name, VARIABLES[key].expected, 'nothing'),
  );
}

/** In live mode the configuration has to say who may ask, in exactly one way. */
function accessRule({ allowDirectAccess }: Partial<Config>, isSet: (key: keyof Config) => boolean): string[] {
  if (allowDirectAccess !== hasSecrets(isSet)) return [];
  const { routerSecrets, services, allowDirectAccess: direct } = VARIABLES;
  const expected = `either secrets here or in ${services.name}, or ${direct.name}=true`;
  return [expectedBut(routerSecrets.name, expected, allowDirectAccess ? 'both' : 'neither')];
}

/** In live mode nobody is trusted without a secret, so the headers would have no effect. */
function unusedHeaders(isSet: (key: keyof Config) => boolean): string[] {
  const { trustedHeaders, routerSecrets, services } = VARIABLES;
  if (!isSet('trustedHeaders') || hasSecrets(isSet)) return [];
  return [expectedBut(trustedHeaders.name, `it beside ${routerSecrets.name} or ${services.name}`, 'neither')];
}

function hasSecrets(isSet: (key: keyof Config) => boolean): boolean {
  return isSet('routerSecrets') || isSet('services');
}

function missingAddresses(values: Partial<Config>, isSet: (key: keyof Config) => boolean): string[] {
  const inUse = [
    ...(values.fingerprintApplications ?? []).map(({ region }) => ({ region, key: FINGERPRINT_URLS[region] })),
    ...(values.captchaConfigurations ?? []).map(({ region }) => ({ region, key: CAPTCHA_URLS[region] })),
  ];
  const sentences = inUse
    .filter(({ key }) => !isSet(key))
    .map(({ region, key }) =>
      expectedBut(VARIABLES[key].name, VARIABLES[key].expected, `nothing, although region ${region} is in use`),
    );
  return [...new Set(sentences)];
}
