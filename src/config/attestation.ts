import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { z } from 'zod';
import {
  captchaId,
  entryOf,
  isEncryptedOrLocal,
  listOf,
  oneOf,
  parsedJson,
  textThat,
  type Variable,
} from './values.ts';

/** The rows of `VARIABLES` about attestations: which services get them, and the keys that sign them. */

// These become claims, labels of a metric and members of a JWK set.
const name = textThat('1 to 64 letters, digits, ".", "_", ":" or "-"', (text) => /^[\w.:-]{1,64}$/.test(text));

/** Not changed in any way, because verifiers compare it character by character (RFC 7519, section 4.1.1). */
const issuer = textThat(
  'an https address without user, query or fragment',
  (text) => URL.canParse(text) && !/[\s?#@]/.test(text) && isEncryptedOrLocal(text),
);

const number = (min: number, max: number) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const differentTexts = (one: z.ZodType<string>) =>
  z
    .array(one, { error: 'expected a list' })
    .min(1, { error: 'expected at least one' })
    .refine((list) => new Set(list).size === list.length, { error: 'expected no two that are the same' })
    .readonly();

const audience = entryOf({
  id: name,
  actions: differentTexts(name),
  subject: oneOf(['required', 'optional']).default('required'),
  captchaIds: differentTexts(captchaId).optional(),
});

/** The services that get attestations. */
const attestation = {
  expected:
    'JSON such as {"issuer":"https://device-trust.example","lifetimeSeconds":120,"unverifiedPerMinute":60,"audiences":[{"id":"orders","actions":["placeOrder"],"subject":"required","captchaIds":["…"]}]}, with different ids',
  schema: parsedJson.pipe(
    entryOf({
      issuer,
      // A lifetime bounds how long a proof that leaks is worth something; beyond, a person has long forgotten the challenge.
      lifetimeSeconds: number(10, 300).default(120),
      unverifiedPerMinute: number(0, 10_000).default(60),
      audiences: z
        .array(audience, { error: 'expected a list' })
        .min(1, { error: 'expected at least one entry' })
        .refine((list) => new Set(list.map(({ id }) => id)).size === list.length, {
          error: 'expected no two entries with the same id',
        })
        .readonly(),
    }),
  ),
  hasParts: true,
} as const;

/** A coordinate or a private key of P-256 as base64url: 32 bytes (RFC 7518, section 6.2). */
const isBytes = (text: string) => /^[\w-]{43}$/.test(text);
const bytes = textThat('32 bytes as base64url', isBytes);

const keyList = listOf(
  {
    kid: name,
    state: oneOf(['next', 'active', 'retired']),
    kty: oneOf(['EC']),
    crv: oneOf(['P-256']),
    x: bytes,
    y: bytes,
    d: bytes,
  },
  'kid',
);

type Key = z.infer<typeof keyList>[number];

/** The keys that sign attestations. */
const attestationKeys = {
  expected:
    'a JSON list of private keys {"kid", "state", "kty":"EC", "crv":"P-256", "x", "y", "d"}, state next, active or retired, of which exactly one is active, with different kids',
  schema: keyList.superRefine((keys, context) => {
    const report = (path: readonly number[], message: string) =>
      context.addIssue({ code: 'custom', path: [...path], message });
    if (keys.length > 0 && keys.filter(({ state }) => state === 'active').length !== 1)
      report([], 'expected exactly one active key');
    for (const [index, key] of keys.entries()) {
      // One that is no such text has its sentence already.
      if ([key.x, key.y, key.d].every(isBytes) && !isKeyPair(key))
        report([index], 'expected a private key d with its own public key x and y');
    }
  }),
};

export const ATTESTATIONS = {
  attestation: {
    name: 'ATTESTATION',
    description: 'Which services get a signed proof of a captcha, and for which actions; without it there are none',
    ...attestation,
  },
  attestationKeys: {
    name: 'ATTESTATION_KEYS',
    description: 'Keys of those proofs, of which the active one signs; `npm run keys` makes them',
    ...attestationKeys,
    absent: [],
    secret: true,
  },
} as const satisfies Record<string, Variable>;

/** Does what one half signs verify with the other? A mismatch would make every verifier refuse everything. */
function isKeyPair({ kty, crv, x, y, d }: Key): boolean {
  const probe = Buffer.from('probe');
  try {
    const signature = sign('sha256', probe, createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' }));
    return verify('sha256', probe, createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }), signature);
  } catch {
    return false;
  }
}
