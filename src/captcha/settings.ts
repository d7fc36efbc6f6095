import { createECDH } from 'node:crypto';
import type { z } from 'zod';
import type { CALLER_VARIABLES } from '../callers/settings.ts';
import * as json from '../config/json-values.ts';
import type { RuleInput } from '../config/parser.ts';
import { address, choice, integer, matching, oneOf, type Table, type Values } from '../config/values.ts';
import { refuseAddresses } from '../slice.ts';
import { quota, region, timeoutMs } from '../upstream/settings.ts';
import { VALIDATE_TEMPLATE } from './contract.ts';

// 32 characters: captcha document, section 8.
const captchaId = matching('32 visible ASCII characters', (text) => /^[!-~]{32}$/.test(text));
// Any text can be the key of an HMAC, but white space around it comes from copying.
const captchaKey = matching('a text without white space around it', (text) => /^\S(.*\S)?$/s.test(text));
const captchas = json.secretList(
  'a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters',
  json.listOf(json.entryOf({ captchaId, captchaKey, nextCaptchaKey: captchaKey.optional(), region }), 'captchaId'),
);

/** The issuer, as it was written, because verifiers compare it character by character (RFC 7519, section 4.1.1). */
const issuer = matching(
  'an https address without user, query or fragment',
  (text) => address.schema.safeParse(text).success,
);
const differentTexts = (text: z.ZodType<string>) =>
  json.listOf(text).refine((list) => new Set(list).size === list.length, { error: 'expected no text twice' });
const audience = json.entryOf({
  id: json.identifier,
  actions: differentTexts(json.identifier),
  subject: oneOf(['required', 'optional']).default('required'),
  captchaIds: differentTexts(captchaId).optional(),
});
const attestation = {
  expected:
    'JSON such as {"issuer":"https://device-trust.example","lifetimeSeconds":120,"audiences":[{"id":"orders","actions":["placeOrder"],"subject":"required","captchaIds":["…"]}]}, with different ids',
  schema: json.parsed.pipe(
    json.entryOf({
      issuer,
      // Services remember a proof for 300 s. The 60 s beyond the longest lifetime cover two clocks that are 5 s wrong each.
      lifetimeSeconds: json.number(10, 240).default(120),
      audiences: json.listOf(audience, 'id'),
    }),
  ),
  isExplained: true,
} as const;

const attestationKey = json.jwkOf('ES256', 'sig', ['sign'], {
  kid: json.identifier,
  state: oneOf(['next', 'active', 'retired']),
  kty: oneOf(['EC']),
  crv: oneOf(['P-256']),
  x: json.bytes,
  y: json.bytes,
  d: json.bytes,
});
/** Do the private and the public half belong together? With a mismatch, verifiers would refuse every attestation. */
function isKeyPair({ x, y, d }: { readonly x: string; readonly y: string; readonly d: string }): boolean {
  const curve = createECDH('prime256v1');
  try {
    curve.setPrivateKey(d, 'base64url');
  } catch {
    return false;
  }
  const publicHalf = ['BA', x, y].map((part) => Buffer.from(part, 'base64url'));
  return curve.getPublicKey().equals(Buffer.concat(publicHalf));
}
const attestationKeys = json.secretList(
  'a JSON list of private keys {"kid", "state", "kty":"EC", "crv":"P-256", "x", "y", "d"}, state next, active or retired, of which exactly one is active, with different kids',
  json.listOf(attestationKey, 'kid').superRefine((keys, context) => {
    const report = (message: string, ...path: number[]) => context.addIssue({ code: 'custom', path, message });
    if (keys.length > 0 && keys.filter(({ state }) => state === 'active').length !== 1)
      report('expected exactly one active key');
    for (const [index, key] of keys.entries()) {
      // Malformed parts are already reported.
      if ([key.x, key.y, key.d].every(json.isKeyBytes) && !isKeyPair(key))
        report('expected a private key d with its own public key x and y', index);
    }
  }),
);

export const CAPTCHA_VARIABLES = {
  captchaConfigurations: { name: 'CAPTCHA_CONFIGURATIONS', ...captchas, live: true },
  captchaUrlGLB: { name: 'CAPTCHA_URL_GLB', ...address },
  captchaUrlNA: { name: 'CAPTCHA_URL_NA', ...address },
  captchaUrlEU: { name: 'CAPTCHA_URL_EU', ...address },
  captchaTimeoutMs: { name: 'CAPTCHA_TIMEOUT_MS', ...timeoutMs, default: '5000' },
  captchaFailOpen: { name: 'CAPTCHA_FAIL_OPEN', ...choice('faults', 'always', 'never'), default: 'faults' },
  maxCaptchas: { name: 'MAX_CAPTCHAS', ...integer(1, 100), default: '1' },
  captchaQuota: { name: 'CAPTCHA_QUOTA', ...quota },
  attestation: { name: 'ATTESTATION', ...attestation },
  attestationKeys: { name: 'ATTESTATION_KEYS', ...attestationKeys, live: true },
} as const satisfies Table;

export type CaptchaSettings = Values<typeof CAPTCHA_VARIABLES>;

/** The key of sandbox mode. It is public, so live mode refuses it. */
export const SANDBOX_ATTESTATION_KEY = {
  kid: 'sandbox',
  state: 'active',
  kty: 'EC',
  crv: 'P-256',
  x: 'pxZZBNO8zzb3AyHiP-W5L2D6YjBpERrZJ2zsf9BTSao',
  y: '7_XWnhXH2ORi8cG0IpxIOSug7wXmwDDyA7kphCrQ8kU',
  d: Buffer.from('public-sandbox-key-worth-nothing').toString('base64url'),
} as const;

export function captchaRules(
  input: RuleInput<typeof CAPTCHA_VARIABLES & typeof CALLER_VARIABLES>,
  isLive: boolean,
): void {
  const { values, isSet, refuse } = input;
  const { captchaConfigurations: list = [], attestationKeys = [], attestation, trustedHeaders } = values;
  // Without a header that names the person, an audience that requires a person would refuse every request.
  const isNameless = trustedHeaders ? trustedHeaders.subject === undefined : !isSet('trustedHeaders');
  for (const { id, subject } of attestation?.audiences ?? []) {
    const person = `"subject" in TRUSTED_HEADERS for the audience "${id}", or "subject":"optional" for it`;
    refuse(isNameless && subject === 'required', 'attestation', person, 'neither');
  }
  if (!isLive) return;

  refuseAddresses(input, list, 'captchaUrl', VALIDATE_TEMPLATE);
  // A captcha id is part of each URL, so it is no secret.
  const known = new Set(list.map(({ captchaId }) => captchaId));
  for (const [index, { captchaKey, nextCaptchaKey }] of list.entries()) {
    for (const [name, key = ''] of Object.entries({ captchaKey, nextCaptchaKey }))
      refuse(known.has(key), 'captchaConfigurations', 'no captcha id as a key', `one at ${index}.${name}`);
    const isSame = captchaKey === nextCaptchaKey;
    refuse(isSame, 'captchaConfigurations', 'two different keys', `the same at ${index}.nextCaptchaKey`);
  }
  // With the sandbox's key, anybody could forge attestations.
  const isPublic = attestationKeys.some(({ x }) => x === SANDBOX_ATTESTATION_KEY.x);
  refuse(isPublic, 'attestationKeys', 'keys of your own', 'the key of the sandbox, which is public');
  // Audiences without keys, or keys without audiences, would attest nothing.
  const isHalf = isSet('attestation') !== isSet('attestationKeys');
  refuse(isHalf, 'attestation', 'ATTESTATION_KEYS as well, or neither', 'one of them');
  // A captcha id that is not configured can never be verified.
  for (const { id, captchaIds = [] } of (values.captchaConfigurations && attestation?.audiences) ?? []) {
    const isUnknown = captchaIds.some((captchaId) => !known.has(captchaId));
    refuse(isUnknown, 'attestation', `captcha ids of CAPTCHA_CONFIGURATIONS for the audience "${id}"`, 'another one');
  }
}
