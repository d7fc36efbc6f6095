import { bytes, entryOf, identifier, jwkOf, listOf, secretList } from '../config/json-values.ts';
import type { RuleInput } from '../config/parser.ts';
import { address, integer, matching, oneOf, type Table, type Values } from '../config/values.ts';
import { refuseAddresses } from '../slice.ts';
import { quota, region, timeoutMs } from '../upstream/settings.ts';
import { QUERY_TEMPLATE } from './contract.ts';
import { DEFAULT_POLICY, policyFile } from './policy.ts';

const secret = matching('visible ASCII characters', (text) => /^[!-~]+$/.test(text));
// A URL would lose `.` and `..` as a part of its path.
const publicKey = matching('visible ASCII characters, not dots alone', (text) => /^(?!\.+$)[!-~]+$/.test(text));
const applications = secretList(
  'a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys',
  listOf(entryOf({ publicKey, secret, region }), 'publicKey'),
);

const MAX_SEALING_KEYS = 16;
const sealingKey = jwkOf('A256KW', 'enc', ['wrapKey', 'unwrapKey'], { kty: oneOf(['oct']), k: bytes, kid: identifier });
/** Keys that seal judgements. Each key has its own `k` too: an old `k` under a new `kid` would look like a rotation. */
const sealingKeys = secretList(
  `a JSON list of 1 to ${MAX_SEALING_KEYS} keys {"kty":"oct", "k", "kid"}, k 32 bytes as base64url, with different kids and different k`,
  listOf(sealingKey, 'kid', 'k').refine((keys) => keys.length <= MAX_SEALING_KEYS, {
    error: `expected at most ${MAX_SEALING_KEYS} entries`,
  }),
);

const policy = { expected: 'a risk policy', schema: policyFile, isPath: true, absent: DEFAULT_POLICY } as const;

export const FINGERPRINT_VARIABLES = {
  fingerprintApplications: { name: 'FINGERPRINT_APPLICATIONS', ...applications, live: true },
  fingerprintUrlGLB: { name: 'FINGERPRINT_URL_GLB', ...address },
  fingerprintUrlNA: { name: 'FINGERPRINT_URL_NA', ...address },
  fingerprintUrlEU: { name: 'FINGERPRINT_URL_EU', ...address },
  fingerprintTimeoutMs: { name: 'FINGERPRINT_TIMEOUT_MS', ...timeoutMs, default: '3000' },
  maxUpstreamCalls: { name: 'MAX_UPSTREAM_CALLS', ...integer(1, 10_000), default: '100' },
  fingerprintQuota: { name: 'FINGERPRINT_QUOTA', ...quota },
  riskPolicy: { name: 'RISK_POLICY_FILE', ...policy },
  sealingKeys: { name: 'SEALING_KEYS', ...sealingKeys, live: true },
} as const satisfies Table;

export type FingerprintSettings = Values<typeof FINGERPRINT_VARIABLES>;

/** The key of sandbox mode. It is public, so live mode refuses it. */
export const SANDBOX_SEALING_KEY = {
  kty: 'oct',
  k: Buffer.from('public-sandbox-key-worth-nothing').toString('base64url'),
  kid: 'sandbox',
} as const;

export function fingerprintRules(input: RuleInput<typeof FINGERPRINT_VARIABLES>): void {
  const { values, refuse } = input;
  const { fingerprintApplications: list = [], sealingKeys = [] } = values;
  refuseAddresses(input, list, 'fingerprintUrl', QUERY_TEMPLATE.replace('/{public_key}', ''));
  // A public key is part of each URL, so it is no secret.
  const publicKeys = new Set(list.map(({ publicKey }) => publicKey));
  for (const [index, { secret }] of list.entries())
    refuse(publicKeys.has(secret), 'fingerprintApplications', 'no public key as a secret', `one at ${index}.secret`);
  // With the sandbox's key, anybody could open and forge judgements.
  const isPublic = sealingKeys.some(({ k }) => k === SANDBOX_SEALING_KEY.k);
  refuse(isPublic, 'sealingKeys', 'keys of your own', 'the key of the sandbox, which is public');
}
