import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import type { SealingKey } from './sealing-key.ts';

/**
 * Texts as JWE in compact form (RFC 7516, section 7.1), with a fresh content key for each text: A256KW wraps it (RFC 3394),
 * and A256GCM encrypts with it. This uses Node's own primitives because `jose` takes twice as long, which is more than a
 * reference may cost. The tests compare both in both directions.
 */

/** The initial value of RFC 3394, section 2.2.3.1. */
const WRAP_IV = Buffer.alloc(8, 0xa6);
const CONTENT_KEY_BYTES = 32;
const WRAPPED_KEY_BYTES = CONTENT_KEY_BYTES + 8;
/** RFC 7518, section 5.3. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Half of the largest body by default, in characters. Judgements have some 800. */
const MAX_CHARACTERS = 262_144;

interface BoxKey {
  readonly key: KeyObject;
  /** The protected header as it stands in a JWE. */
  readonly header: string;
}

/**
 * Seals and opens texts. The first key seals, and all of them open. With none, nothing can be sealed or opened.
 *
 * A JWE is opened only if its header is, byte for byte, the one that this class writes for one of the keys. This pins `alg`,
 * `enc`, `typ` and `kid` without parsing what a caller sent.
 */
export class JudgementBox {
  readonly #type: string;
  #sealing: BoxKey | undefined;
  #byHeader: ReadonlyMap<string, BoxKey> = new Map();

  /** @param type the `typ` of each JWE */
  constructor(type: string, keys: readonly SealingKey[]) {
    this.#type = type;
    this.replaceKeys(keys);
  }

  /** Replaces all keys at once, for a rotation. */
  replaceKeys(keys: readonly SealingKey[]): void {
    const all = keys.map(({ k, kid }) => ({
      key: createSecretKey(Buffer.from(k, 'base64url')),
      header: encoded(JSON.stringify({ alg: 'A256KW', enc: 'A256GCM', kid, typ: this.#type })),
    }));
    this.#sealing = all[0];
    this.#byHeader = new Map(all.map((one) => [one.header, one]));
  }

  get canSeal(): boolean {
    return this.#sealing !== undefined;
  }

  /** The text as a JWE. Undefined without a key, and if the JWE would be too long to be opened. */
  seal(text: string): string | undefined {
    if (!this.#sealing) return undefined;
    const { key, header } = this.#sealing;
    const random = randomBytes(CONTENT_KEY_BYTES + IV_BYTES);
    const contentKey = random.subarray(0, CONTENT_KEY_BYTES);
    const iv = random.subarray(CONTENT_KEY_BYTES);
    const wrap = createCipheriv('id-aes256-wrap', key, WRAP_IV);
    const wrappedKey = wrap.update(contentKey, undefined, 'base64url') + wrap.final('base64url');
    const cipher = createCipheriv('aes-256-gcm', contentKey, iv).setAAD(Buffer.from(header));
    const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    const parts = [header, wrappedKey, encoded(iv), encoded(ciphertext), encoded(cipher.getAuthTag())];
    const jwe = parts.join('.');
    return jwe.length <= MAX_CHARACTERS ? jwe : undefined;
  }

  /** The text of a JWE that one of the keys sealed. Undefined for anything else, without saying why. */
  open(jwe: string): string | undefined {
    if (jwe.length > MAX_CHARACTERS) return undefined;
    const [header = '', ...rest] = jwe.split('.', 6);
    const key = this.#byHeader.get(header)?.key;
    if (!key || rest.length !== 4) return undefined;
    const [wrappedKey, iv, ciphertext, tag] = rest.map(decoded);
    if (wrappedKey?.length !== WRAPPED_KEY_BYTES || iv?.length !== IV_BYTES || tag?.length !== TAG_BYTES)
      return undefined;
    if (!ciphertext) return undefined;
    try {
      const unwrap = createDecipheriv('id-aes256-wrap', key, WRAP_IV);
      const contentKey = Buffer.concat([unwrap.update(wrappedKey), unwrap.final()]);
      const decipher = createDecipheriv('aes-256-gcm', contentKey, iv, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(header)).setAuthTag(tag);
      return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8');
    } catch {
      // The only failures here are those of the two authentication checks.
      return undefined;
    }
  }
}

function encoded(bytes: string | Uint8Array): string {
  return Buffer.from(bytes).toString('base64url');
}

/** The bytes; undefined unless the text is what `encoded` writes. Node skips what is not base64url, and spare bits at the end. */
function decoded(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}
