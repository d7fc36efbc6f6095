import { z } from 'zod';

/**
 * The kinds of value that a variable can have. Every message is in our own words and never repeats the value, because the
 * value can be a secret.
 */

/** One environment variable: a row of the table in `variables.ts`. */
export interface Variable {
  readonly name: string;
  readonly description: string;
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** Turns the text of the variable into its value. */
  readonly schema: z.ZodType<unknown, string>;
  /** The text that is read if the variable is not set, as an operator would write it. */
  readonly default?: string;
  /** The value if the variable is not set and has no default; undefined for most. */
  readonly absent?: unknown;
  /** Its value is never shown, and `NAME_FILE` may name a file that holds it. */
  readonly secret?: true;
  /** Its value is an address, which is never shown either, because it could hold a secret by mistake. */
  readonly isAddress?: true;
}

/** The regions that both upstreams have. */
export const REGIONS = ['GLB', 'NA', 'EU'] as const;

export type Region = (typeof REGIONS)[number];

/** The message for a value that is wrong or missing. */
const expecting =
  (expected: string) =>
  ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `expected ${expected}, but it is missing` : `expected ${expected}`;

/** A text for which the predicate holds. It has one message, whatever is wrong with it. */
export const textThat = (expected: string, fits: (text: string) => boolean) =>
  z.string({ error: expecting(expected) }).refine(fits);

const either = (words: readonly string[]) =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : words.join();

export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: expecting(either(words)) });

/** One of these words. */
export const choice = <const Words extends readonly string[]>(words: Words) => ({
  expected: either(words),
  schema: oneOf(words),
});

/** The words true and false, as a boolean. */
export const toggle = {
  expected: 'true or false',
  schema: oneOf(['true', 'false']).transform((text) => text === 'true'),
};

/** Up to nine digits that make a number within these bounds, both included. */
const integer = (expected: string, min: number, max: number) => ({
  expected,
  schema: textThat(expected, (text) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max).transform(
    Number,
  ),
});

/** A number within these bounds, both included. */
export const whole = (min: number, max: number) => integer(`a whole number from ${min} to ${max}`, min, max);

/** A deadline in ms. */
export const milliseconds = whole(1, 60_000);

/** A port, where 0 lets the system pick a free one. */
export const port = (max: number) => integer(`a port from 0 to ${max}`, 0, max);

// Visible ASCII: anything else could not be sent in a header, or would end the header early.
const VISIBLE = /^[\x21-\x7e]+$/;

const credential = textThat('visible ASCII characters', (text) => VISIBLE.test(text));
// `.` and `..` would be resolved away as a part of a path.
const publicKey = textThat(
  'visible ASCII characters, not dots alone',
  (text) => VISIBLE.test(text) && /[^.]/.test(text),
);
// 32 characters: captcha document, section 8.
const captchaId = textThat('32 visible ASCII characters', (text) => VISIBLE.test(text) && text.length === 32);
// Any text can be the key of an HMAC, but white space around one comes from copying it.
const captchaKey = textThat('a text without white space around it', (text) => /^\S(.*\S)?$/s.test(text));

/** A secret that the operator makes up. */
export const secretText = textThat('16 to 256 visible ASCII characters', (text) => /^[\x21-\x7e]{16,256}$/.test(text));

/** A comma-separated list of such secrets. */
export const secretTexts = z
  .string()
  .transform((text): readonly string[] => text.split(',').map((secret) => secret.trim()))
  .pipe(z.array(secretText).max(8, { error: 'expected at most 8 secrets' }).readonly());

/** A key of JSON is shown only if it looks like a word, perhaps mistyped: anything else could be a secret in the wrong place. */
export const looksLikeWord = (key: string) => /^[a-z_-]{1,24}$/i.test(key);

const entryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `expected no unknown key${looksLikeWord(key) ? ` "${key}"` : ''}`).join(', ')
        : 'expected an object',
  });

const parsedJson = z.string().transform((text, context) => {
  try {
    const json: unknown = JSON.parse(text);
    return json;
  } catch {
    context.addIssue({ code: 'custom', message: 'it is not JSON' });
    return z.NEVER;
  }
});

/** A JSON list of at least one object, no two with the same `id`. */
export const listOf = <Shape extends z.ZodRawShape>(shape: Shape, id: keyof Shape & string) =>
  parsedJson
    .pipe(
      z.array(entryOf(shape), { error: 'expected a list' }).min(1, { error: 'expected at least one entry' }).readonly(),
    )
    .refine((list) => new Set(list.map((entry) => Object(entry)[id])).size === list.length, {
      error: `expected no two entries with the same ${id}`,
    });

/** Accounts at the fingerprint service. */
export const applicationList = {
  expected: 'a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys',
  schema: listOf({ publicKey, secret: credential, region: oneOf(REGIONS) }, 'publicKey'),
};

/** Accounts at the captcha service. */
export const captchaList = {
  expected:
    'a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters',
  schema: listOf({ captchaId, captchaKey, region: oneOf(REGIONS) }, 'captchaId'),
};

const calls = z.int().min(1).max(999_999_999).optional();

/** How many calls may be made for one account. */
export const quota = {
  expected: 'JSON such as {"perSecond":200,"perDay":1000000}, with one of both or both, each from 1 to 999999999',
  schema: parsedJson
    .pipe(entryOf({ perSecond: calls, perDay: calls }))
    .refine(({ perSecond, perDay }) => perSecond !== undefined || perDay !== undefined),
};

const anyAddress = z
  .string()
  .refine((text) => URL.canParse(text) && !/\s/.test(text), { error: 'no address', abort: true })
  .refine((text) => !/[?#@]/.test(text), 'a user, query or fragment');

const withoutSlash = (text: string) => text.replace(/\/+$/, '');

/** An upstream's address. Paths are appended to it, so slashes at its end are removed. */
export const address = {
  expected: 'an https address without user, query or fragment; plain http only to this machine',
  schema: anyAddress.refine(isEncryptedOrLocal, 'not https').transform(withoutSlash),
  isAddress: true,
} as const;

/** An address within the operator's own network, where plain http is usual. */
export const internalAddress = {
  expected: 'an http or https address without user, query or fragment',
  schema: anyAddress.refine((text) => /^https?:/.test(text), 'neither http nor https').transform(withoutSlash),
  isAddress: true,
} as const;

/** The address of a Valkey or Redis, which may have a user, a password and the number of a database. */
export const storeAddress = {
  expected: 'a redis:// or rediss:// address, such as rediss://user:password@host:6379/0',
  schema: textThat(
    'a redis:// or rediss:// address',
    (text) => URL.canParse(text) && !/\s/.test(text) && /^rediss?:\/\/[^/?#]+(\/\d{0,3})?$/.test(text),
  ),
  secret: true,
} as const;

function isEncryptedOrLocal(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}
