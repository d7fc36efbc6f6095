import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { DeviceTrustError, notConfigured } from '../errors.ts';
import { type Judgement, readRecord, type Sealed, writeRecord } from './judgement-record.ts';
import type { FingerprintMetrics } from './metrics.ts';
import type { JudgedDevice } from './outcome.ts';

/** A key that seals judgements: a JWK of 256 bits (RFC 7517; RFC 7518, section 6.4). Each record names the `kid` of its key. */
export type SealingKey = Readonly<ReturnType<typeof newSealingKey>>;

/** A new random key, named by the day and four random bytes, so that no two keys share a name. */
export function newSealingKey() {
  const day = new Date().toISOString().slice(0, 10);
  const kid = `seal-${day}-${randomBytes(4).toString('hex')}`;
  return { kty: 'oct' as const, k: randomBytes(32).toString('base64url'), kid };
}

/** The longest sealed text, in characters. A judgement has some 800. By default a body has room for 60 judgements of this length. */
const MAX_CHARACTERS = 8_192;
/** The longest text that is opened, in characters. Releases up to 0.4.0 sealed texts of this length, and services keep them. */
const MAX_OPENED_CHARACTERS = 262_144;

export const noSealingKeys = () => notConfigured('Judgements', 'SEALING_KEYS');

/** Seals judgements, and opens sealed judgements. The first key seals, and all keys open. */
export function createJudgements(
  sealingKeys: readonly SealingKey[],
  { recordJudgement }: Pick<FingerprintMetrics, 'recordJudgement'>,
) {
  /** Keyed by JWE protected header. */
  const keys = new Map(
    sealingKeys.map(({ k, kid }) => {
      const header = JSON.stringify({ alg: 'A256KW', enc: 'A256GCM', kid, typ: 'device-judgement+jwe' });
      return [Buffer.from(header).toString('base64url'), createSecretKey(k, 'base64url')] as const;
    }),
  );
  return {
    hasKeys: keys.size > 0,
    /** Seals a judgement with the first key, shortened if it is too long. Returns the error if only its identifiers are too long. */
    seal: (judgement: Judgement): Sealed | DeviceTrustError => {
      const [first] = keys;
      if (!first) throw noSealingKeys();
      // Base64url has four characters for three bytes. The wrapped key, the nonce, the tag and the dots take 96.
      const maxBytes = Math.floor(((MAX_CHARACTERS - 96 - first[0].length) * 3) / 4);
      const record = writeRecord(judgement, maxBytes);
      if (!record)
        return new DeviceTrustError('UPSTREAM_PROTOCOL_ERROR', { internal: 'identifiers too long to be sealed' });
      recordJudgement('sealed');
      return { sealed: encrypt(record.text, ...first), isShortened: record.isShortened };
    },
    /** Opens a text that one of the keys has sealed. @throws JUDGEMENT_UNREADABLE for any other text, NOT_CONFIGURED without a key */
    open: (sealed: string): Judgement & Sealed => {
      if (keys.size === 0) throw noSealingKeys();
      const record = sealed.length > MAX_OPENED_CHARACTERS ? undefined : decrypt(sealed, keys);
      const judgement = record === undefined ? undefined : readRecord(record);
      recordJudgement(judgement ? 'opened' : 'unreadable');
      if (!judgement) throw new DeviceTrustError('JUDGEMENT_UNREADABLE');
      return { ...judgement, sealed };
    },
  };
}

/** A judgement that was opened, or one about a device of this request, which is sealed only if `sealed` is selected. */
export type KnownJudgement = Judgement & (Sealed | { readonly about: JudgedDevice });

/** The judgement of a device in a request of this person, before a decision. */
export function judgementOf(device: JudgedDevice, subject: string | undefined): Judgement {
  const { token: _, respondedAt, eventType, ...shown } = device;
  const judgedAt = new Date(respondedAt).toISOString();
  const about = { judgedAt, subject: subject ?? null, eventType: eventType ?? null, decision: null };
  return { ...shown, __typename: 'DeviceJudgement', ...about };
}

// A sealed judgement is a JWE in compact form (RFC 7516, section 7.1): A256KW wraps a fresh content key (RFC 3394), and A256GCM
// encrypts with that key. `jose` takes five to seven times as long, and a request may open hundreds of JWEs. Tests compare both.

const WRAP_IV = Buffer.alloc(8, 0xa6); // RFC 3394, section 2.2.3.1
const AUTH_TAG = { authTagLength: 16 };

function encrypt(text: string, header: string, key: KeyObject): string {
  const contentKey = randomBytes(32);
  const iv = randomBytes(12);
  const wrap = createCipheriv('id-aes256-wrap', key, WRAP_IV);
  const wrappedKey = Buffer.concat([wrap.update(contentKey), wrap.final()]);
  const cipher = createCipheriv('aes-256-gcm', contentKey, iv, AUTH_TAG).setAAD(Buffer.from(header));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return compact(header, [wrappedKey, iv, ciphertext, cipher.getAuthTag()]);
}

/** The text in a JWE; undefined if none of the keys encrypted it. The whole header selects the key; it is never parsed. */
function decrypt(jwe: string, keys: ReadonlyMap<string, KeyObject>): string | undefined {
  const [header = '', ...parts] = jwe.split('.', 6);
  const key = keys.get(header);
  const [wrappedKey, iv, ciphertext, tag] = parts.map((part) => Buffer.from(part, 'base64url'));
  if (!key || !wrappedKey || !iv || !ciphertext || !tag) return undefined;
  // Re-encode and compare, because Node ignores invalid characters and trailing bits.
  if (compact(header, [wrappedKey, iv, ciphertext, tag]) !== jwe) return undefined;
  try {
    const unwrap = createDecipheriv('id-aes256-wrap', key, WRAP_IV);
    const contentKey = Buffer.concat([unwrap.update(wrappedKey), unwrap.final()]);
    const decipher = createDecipheriv('aes-256-gcm', contentKey, iv, AUTH_TAG).setAAD(Buffer.from(header));
    decipher.setAuthTag(tag);
    return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8');
  } catch {
    // A part has another length, or one of the two authentication checks failed.
    return undefined;
  }
}

function compact(header: string, parts: readonly Buffer[]): string {
  return [header, ...parts.map((part) => part.toString('base64url'))].join('.');
}
