import { z } from 'zod';

/** The kinds of value, apart from JSON. No message repeats the value, which can be a secret. */

export interface Kind {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  readonly schema: z.ZodType<unknown, string>;
  /** The value if the variable is not set and has no default; undefined for most. */
  readonly absent?: unknown;
  /** Its value is never shown, and `NAME_FILE` may name a file that holds it. */
  readonly secret?: true;
  /** The sentence about a wrong value names each mistake in it and does not show it, because it is long or could hold a secret. */
  readonly isExplained?: true;
}

/** The sentence about a variable that is wrong. All such sentences have this form. */
export function expectedBut(name: string, expected: string, got: string): string {
  return `${name}: expected ${expected}, but got ${got}.`;
}

/** Who asks, in the log and the metrics, if it is no service: the router, or anyone if no secret is configured. */
export const [ROUTER, ANYONE] = ['router', 'anyone'] as const;

/** The scope for everything with the tag `risk`. */
export const RISK_SCOPE = 'risk:read';

export const REGIONS = ['GLB', 'NA', 'EU'] as const;

export type Region = (typeof REGIONS)[number];

/** The message for a value that is wrong or missing. */
export const expecting =
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

export const anyText = (expected: string) => ({ expected, schema: z.string() });

export const choice = <const Words extends readonly string[]>(...words: Words) => ({
  expected: either(words),
  schema: oneOf(words),
});

export const toggle = {
  expected: 'true or false',
  schema: oneOf(['true', 'false']).transform((text) => text === 'true'),
};

/** Up to nine digits that make a number within these bounds, both included. */
const integer = (expected: string, min: number, max: number) => {
  const fits = (text: string) => /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max;
  return { expected, schema: textThat(expected, fits).transform(Number) };
};

export const whole = (min: number, max: number) => integer(`a whole number from ${min} to ${max}`, min, max);

/** A port, where 0 lets the system pick a free one. */
export const port = (max: number) => integer(`a port from 0 to ${max}`, 0, max);

export const ratio = {
  expected: 'a number from 0 to 1, such as 0.1',
  schema: textThat('a number from 0 to 1', (text) => /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(text)).transform(Number),
};

/** Visible ASCII: anything else could not be sent in a header, or would end the header early. */
export const visibleText = (min: number, max: number) => {
  const expected = `${min} to ${max} visible ASCII characters`;
  return { expected, schema: textThat(expected, (text) => new RegExp(`^[!-~]{${min},${max}}$`).test(text)) };
};

export const ownSecret = { ...visibleText(16, 256), secret: true } as const;

export const ownSecrets = {
  expected: `a comma-separated list of 1 to 8 secrets, each of ${ownSecret.expected}`,
  schema: z
    .string()
    .transform((text): readonly string[] => text.split(',').map((secret) => secret.trim()))
    .pipe(z.array(ownSecret.schema).max(8, { error: 'expected at most 8 secrets' }).readonly()),
  absent: [],
  secret: true,
} as const;

/** An https address, or one of this machine, for which no encryption is needed. */
export function isEncryptedOrLocal(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}

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
  isEncryptedOrLocal,
);

/** An address within the operator's own network, where plain http is usual. */
export const internalAddress = httpAddress(
  'an http or https address without user, query or fragment',
  'neither http nor https',
  (text) => /^https?:/.test(text),
);

/** The address of a Valkey or Redis, which may have a user, a password and the number of a database. */
export const storeAddress = {
  expected: 'a redis:// or rediss:// address, such as rediss://user:password@host:6379/0',
  schema: textThat(
    'a redis:// or rediss:// address',
    (text) => URL.canParse(text) && !/\s/.test(text) && /^rediss?:\/\/[^/?#]+(\/\d{0,3})?$/.test(text),
  ),
  secret: true,
} as const;

/** A pair of OpenTelemetry, whose value is percent-encoded where it has other characters than these. */
const PAIR = /^\s*([\w./-]{1,255})\s*=\s*([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)\s*$/;
const PAIRS = 'pairs such as deployment.environment.name=live,service.namespace=shop, with percent-encoded values';

export const resourceAttributes = {
  expected: PAIRS,
  schema: z.string().transform((text, context): Readonly<Record<string, string>> => {
    try {
      return Object.fromEntries(
        text.split(',').map((pair) => {
          const [, name, value = ''] = PAIR.exec(pair) ?? [];
          if (name === undefined) throw new URIError('no pair');
          return [name, decodeURIComponent(value)];
        }),
      );
    } catch {
      context.addIssue({ code: 'custom', message: `expected ${PAIRS}` });
      return z.NEVER;
    }
  }),
  absent: {},
};
