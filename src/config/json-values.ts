import { createECDH } from 'node:crypto';
import { z } from 'zod';
import { METADATA_KEYS, type MetadataKey } from '../fingerprint/contract.ts';
import { propertiesOf } from '../runtime/json.ts';
import {
  ANYONE,
  expecting,
  isEncryptedOrLocal,
  type Kind,
  oneOf,
  ownSecret,
  REGIONS,
  RISK_SCOPE,
  ROUTER,
  textThat,
} from './values.ts';

/** The values that are JSON: accounts, quotas, who may ask, attestations, and keys. */

/** A key of JSON is shown only if it looks like a word, perhaps mistyped: anything else could be a secret in the wrong place. */
export const looksLikeWord = (key: string) => /^[a-z_-]{1,24}$/i.test(key);

const NO_OBJECT = 'expected an object';

const entryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `expected no unknown key${looksLikeWord(key) ? ` "${key}"` : ''}`).join(', ')
        : NO_OBJECT,
  });

const parsedJson = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'it is not JSON' });
    return z.NEVER;
  }
});

/** At least one entry, and no two with the same text at any of these keys, which is checked beside all other mistakes. */
const listOf = <Entry extends z.ZodType>(entry: Entry, ...ids: readonly string[]) => {
  const differentAt = (id: string) =>
    z.refine<readonly unknown[]>(
      (list) => {
        const texts = list.map((one) => propertiesOf(one)[id]).filter((value) => typeof value === 'string');
        return new Set(texts).size === texts.length;
      },
      { error: `expected no two entries with the same ${id}`, when: ({ value }) => Array.isArray(value) },
    );
  return z
    .array(entry, { error: 'expected a list' })
    .min(1, { error: 'expected at least one entry' })
    .check(...ids.map(differentAt))
    .readonly();
};

const number = (min: number, max: number) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const truth = z.boolean({ error: 'expected true or false' });

/** A list of secrets: none if it is not set. */
const secretList = <Schema extends z.ZodType<unknown, string>>(expected: string, schema: Schema) =>
  ({ expected, schema, absent: [], secret: true }) as const satisfies Kind;

const region = oneOf(REGIONS);
const secret = textThat('visible ASCII characters', (text) => /^[!-~]+$/.test(text));
// `.` and `..` would be resolved away as a part of a path.
const publicKey = textThat('visible ASCII characters, not dots alone', (text) => /^(?!\.+$)[!-~]+$/.test(text));
export const applications = secretList(
  'a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys',
  parsedJson.pipe(listOf(entryOf({ publicKey, secret, region }), 'publicKey')),
);

// 32 characters: captcha document, section 8.
const captchaId = textThat('32 visible ASCII characters', (text) => /^[!-~]{32}$/.test(text));
// Any text can be the key of an HMAC, but white space around one comes from copying it.
const captchaKey = textThat('a text without white space around it', (text) => /^\S(.*\S)?$/s.test(text));
export const captchas = secretList(
  'a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters',
  parsedJson.pipe(listOf(entryOf({ captchaId, captchaKey, region }), 'captchaId')),
);

const calls = number(1, 999_999_999).optional();
export const quota = {
  expected: 'JSON such as {"perSecond":200,"perDay":1000000}, with one of both or both, each from 1 to 999999999',
  schema: parsedJson
    .pipe(entryOf({ perSecond: calls, perDay: calls }))
    .refine(({ perSecond, perDay }) => perSecond !== undefined || perDay !== undefined),
};

const MAX_SERVICES = 64;
// The other names are those of callers that are no service, in the log and the metrics.
const serviceName = textThat(
  `1 to 64 lowercase letters, digits and hyphens, and neither ${ROUTER} nor ${ANYONE}`,
  (text) => /^[a-z0-9-]{1,64}$/.test(text) && text !== ROUTER && text !== ANYONE,
);
const SCOPES = [RISK_SCOPE] as const;
const scopes = z
  .array(z.enum(SCOPES, { error: expecting(SCOPES.join()) }), { error: 'expected a list of scopes' })
  .readonly()
  .default([]);
/** Services that ask without the router. While a secret is rotated, its service has two entries with the same name. */
export const services = secretList(
  `a JSON list of at most ${MAX_SERVICES} {"name", "secret", "scopes"}, with names of lowercase letters, digits and hyphens, and different secrets of ${ownSecret.expected}; the only scope is ${SCOPES}, and entries with the same name have the same scopes`,
  parsedJson
    .pipe(listOf(entryOf({ name: serviceName, secret: ownSecret.schema, scopes }), 'secret'))
    .refine((list) => list.length <= MAX_SERVICES, { error: `expected at most ${MAX_SERVICES} entries` })
    .superRefine((list, context) => {
      for (const [index, { name, scopes }] of list.entries()) {
        const first = list.find((other) => other.name === name)?.scopes ?? [];
        if (SCOPES.every((scope) => first.includes(scope) === scopes.includes(scope))) continue;
        const message = 'expected the scopes of the first entry with this name';
        context.addIssue({ code: 'custom', path: [index, 'scopes'], message });
      }
    }),
);

// Hop-by-hop headers (RFC 9110, section 7.6.1) are about a connection, and the others hold credentials.
const UNTRUSTED =
  /^(authorization|router-authorization|cookie|connection|keep-alive|proxy-(connection|authenticate|authorization)|te|trailer|transfer-encoding|upgrade)$/;
/** The name of a header (a token of RFC 9110, section 5.6.2), in lower case. */
const header = textThat(
  'the name of a header that is neither hop-by-hop nor for credentials',
  (text) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text) && !UNTRUSTED.test(text.toLowerCase()),
).transform((text) => text.toLowerCase());
const from = oneOf(['header', 'header-or-argument']).optional();
const metadatum = entryOf({ header, from }).optional();
// Sound: Object.fromEntries forgets the names of the keys.
const ofEachKey = Object.fromEntries(Object.keys(METADATA_KEYS).map((key) => [key, metadatum])) as Record<
  MetadataKey,
  typeof metadatum
>;
const metadata = entryOf({
  ipAddr: entryOf({ header, from, hops: number(1, 16).optional(), port: truth.optional() }).optional(),
  ...ofEachKey,
})
  .refine((headers) => Object.keys(headers).length > 0, { error: 'expected one key at least' })
  .refine(({ ipAddr, ipAddrV4, ipAddrV6 }) => !ipAddr || !(ipAddrV4 || ipAddrV6), {
    error: 'expected either ipAddr or ipAddrV4 and ipAddrV6',
  });
/** The headers in which a router or a service says on whose behalf it asks, and what it knows about the client. */
export const trustedHeaders = {
  expected:
    'JSON such as {"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}, with at least one of the three',
  schema: parsedJson
    .pipe(entryOf({ subject: header.optional(), scopes: header.optional(), metadata: metadata.optional() }))
    .refine((headers) => Object.keys(headers).length > 0, { error: 'expected one header at least' })
    .refine(({ subject, scopes }) => subject === undefined || subject !== scopes, {
      error: 'expected different headers for subject and scopes',
    }),
  isExplained: true,
} as const;

/** It becomes a claim, a label of a metric, a member of a JWK set, or a header of a sealed judgement. */
const identifier = textThat('1 to 64 letters, digits, ".", "_", ":" or "-"', (text) => /^[\w.:-]{1,64}$/.test(text));

/** Not changed in any way, because verifiers compare it character by character (RFC 7519, section 4.1.1). */
const issuer = textThat(
  'an https address without user, query or fragment',
  (text) => URL.canParse(text) && !/[\s?#@]/.test(text) && isEncryptedOrLocal(text),
);
const differentTexts = (one: z.ZodType<string>) =>
  listOf(one).refine((list) => new Set(list).size === list.length, { error: 'expected no two that are the same' });
const audience = entryOf({
  id: identifier,
  actions: differentTexts(identifier),
  subject: oneOf(['required', 'optional']).default('required'),
  captchaIds: differentTexts(captchaId).optional(),
});
export const attestation = {
  expected:
    'JSON such as {"issuer":"https://device-trust.example","lifetimeSeconds":120,"audiences":[{"id":"orders","actions":["placeOrder"],"subject":"required","captchaIds":["…"]}]}, with different ids',
  schema: parsedJson.pipe(
    entryOf({
      issuer,
      // Services remember a proof for 300 s. A minute less is enough for two clocks that differ by 5 s each.
      lifetimeSeconds: number(10, 240).default(120),
      audiences: listOf(audience, 'id'),
    }),
  ),
  isExplained: true,
} as const;

/** 43 characters. The last one has two spare bits, which are zero in what an encoder writes. The same byte 32 times is not random. */
const isKeyBytes = (text: string) =>
  /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text) && new Set(Buffer.from(text, 'base64url')).size > 1;
const bytes = textThat('32 random bytes as base64url', isKeyBytes);

/** A JWK of this shape. The purposes of RFC 7517, section 4, and `ext` have to fit; other members are ignored. */
const jwkOf = <Shape extends z.ZodRawShape>(alg: string, use: string, operations: readonly string[], shape: Shape) => {
  const error = `expected a list with ${operations.join(' and ')}`;
  const list = z.array(z.unknown(), { error }).refine((all) => operations.every((one) => all.includes(one)), error);
  const purpose = z.object({ alg: oneOf([alg]), use: oneOf([use]), key_ops: list, ext: truth }).partial();
  return z.object({ ...purpose.shape, ...shape }, { error: NO_OBJECT });
};

const attestationKey = jwkOf('ES256', 'sig', ['sign'], {
  kid: identifier,
  state: oneOf(['next', 'active', 'retired']),
  kty: oneOf(['EC']),
  crv: oneOf(['P-256']),
  x: bytes,
  y: bytes,
  d: bytes,
});
/** Does the private half have this public half? A mismatch would make every verifier refuse everything. */
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
export const attestationKeys = secretList(
  'a JSON list of private keys {"kid", "state", "kty":"EC", "crv":"P-256", "x", "y", "d"}, state next, active or retired, of which exactly one is active, with different kids',
  parsedJson.pipe(listOf(attestationKey, 'kid')).superRefine((keys, context) => {
    const report = (message: string, ...path: number[]) => context.addIssue({ code: 'custom', path, message });
    if (keys.length > 0 && keys.filter(({ state }) => state === 'active').length !== 1)
      report('expected exactly one active key');
    for (const [index, key] of keys.entries()) {
      // One that is no such text has its sentence already.
      if ([key.x, key.y, key.d].every(isKeyBytes) && !isKeyPair(key))
        report('expected a private key d with its own public key x and y', index);
    }
  }),
);

const MAX_SEALING_KEYS = 16;
const sealingKey = jwkOf('A256KW', 'enc', ['wrapKey', 'unwrapKey'], { kty: oneOf(['oct']), k: bytes, kid: identifier });
/** Keys that seal judgements. An old one under a new name would be taken for a rotation, so the keys themselves differ too. */
export const sealingKeys = secretList(
  `a JSON list of 1 to ${MAX_SEALING_KEYS} keys {"kty":"oct", "k", "kid"}, k 32 bytes as base64url, with different kids and different k`,
  parsedJson
    .pipe(listOf(sealingKey, 'kid', 'k'))
    .refine((keys) => keys.length <= MAX_SEALING_KEYS, { error: `expected at most ${MAX_SEALING_KEYS} entries` }),
);
