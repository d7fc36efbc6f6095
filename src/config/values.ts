import { z } from 'zod';

/** A table of variables, and the kinds of values other than JSON. No message here repeats the value, which can be a secret. */

export interface Kind {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  readonly schema: z.ZodType<unknown, string>;
  /** The value if the variable is not set and has no default; undefined for most. */
  readonly absent?: unknown;
  /** The value is never shown, and `NAME_FILE` may name a file that holds it. */
  readonly secret?: true;
  /** The value is the path of a file, whose text the schema reads. Each of its messages is a sentence. */
  readonly isPath?: true;
  /** The sentence about a wrong value names its mistakes instead of the value, which is long or could hold a secret. */
  readonly isExplained?: true;
}

/** One environment variable: a row of a table. */
export interface Variable extends Kind {
  readonly name: string;
  /** The text that is read if the variable is not set, as an operator would write it. */
  readonly default?: string;
  /** Only for live mode: the sandbox refuses it. */
  readonly live?: true;
}

export type Table = Readonly<Record<string, Variable>>;

type Value<Row> = Row extends { readonly schema: z.ZodType<infer Output> }
  ? Row extends { readonly default: string } | { readonly absent: unknown }
    ? Output
    : Output | undefined
  : never;

/** The value of every variable: the one in the environment, else its `default`, else its `absent`, which is undefined for most. */
export type Values<Rows extends Table> = { readonly [Key in keyof Rows]: Value<Rows[Key]> };

/** The sentence about a variable that is wrong. All such sentences have this form. */
export function mismatch(name: string, expected: string, got: string): string {
  return `${name}: expected ${expected}, but got ${got}.`;
}

/** The message for a value that is wrong or missing. */
const expecting =
  (expected: string) =>
  ({ input }: { readonly input?: unknown }) =>
    input === undefined ? `expected ${expected}, but it is missing` : `expected ${expected}`;

/** A text for which the predicate holds. All other texts get the same message. */
export const matching = (expected: string, fits: (text: string) => boolean) =>
  z.string({ error: expecting(expected) }).refine(fits);

const either = (words: readonly string[]) =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : words.join();

export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: expecting(either(words)) });

export const choice = <const Words extends readonly string[]>(...words: Words) => ({
  expected: either(words),
  schema: oneOf(words),
});

export const flag = {
  expected: 'true or false',
  schema: oneOf(['true', 'false']).transform((text) => text === 'true'),
};

/** Up to nine digits that make a number within these bounds, both included. */
const digits = (expected: string, min: number, max: number) => {
  const fits = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max;
  return { expected, schema: matching(expected, fits).transform(Number) };
};

export const integer = (min: number, max: number) => digits(`a whole number from ${min} to ${max}`, min, max);

/** A port, where 0 lets the system pick a free one. */
export const port = (max: number) => digits(`a port from 0 to ${max}`, 0, max);

export const ratio = {
  expected: 'a number from 0 to 1, such as 0.1',
  schema: matching('a number from 0 to 1', (text) => /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(text)).transform(Number),
};

const visible = '16 to 256 visible ASCII characters';
/** Visible ASCII: anything else could not be sent in a header, or would end the header early. */
export const ownSecret = {
  expected: visible,
  schema: matching(visible, (text) => /^[!-~]{16,256}$/.test(text)),
  secret: true,
} as const;

/** A host of this machine, as a URL has it. */
export const isLocalHost = (host: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host);

/** An address of HTTP. Paths are appended to it, so slashes at its end are removed. */
const httpAddress = (expected: string, flaw: string, fits: (text: string) => boolean) =>
  ({
    expected,
    schema: z
      .string()
      .refine((text) => URL.canParse(text) && !/\s/.test(text), { error: 'no address', abort: true })
      .refine((text) => !/[?#@]/.test(text), 'a user, query or fragment')
      .refine(fits, flaw)
      .transform((text) => text.replace(/\/+$/, '')),
    isExplained: true,
  }) as const;

export const address = httpAddress(
  'an https address without user, query or fragment; plain http only to this machine',
  'not https',
  (text) => {
    const { protocol, hostname } = new URL(text);
    return protocol === 'https:' || (protocol === 'http:' && isLocalHost(hostname));
  },
);

/** An address within the operator's own network, where plain http is usual. */
export const internalAddress = httpAddress(
  'an http or https address without user, query or fragment',
  'neither http nor https',
  (text) => /^https?:/.test(text),
);
