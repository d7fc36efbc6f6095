import { z } from 'zod';

/** The kinds of value that the configuration is made of. None of their messages repeats what was found. */

/** One environment variable. */
export interface Variable {
  readonly name: string;
  readonly description: string;
  /** Completes the sentence "expected …". */
  readonly expected: string;
  readonly schema: z.ZodType<unknown, string>;
  /** As an operator would write it; absent where there is none. */
  readonly default?: string;
  /** Never shown, and `NAME_FILE` may name a file that holds it. */
  readonly secret?: true;
  /** Never shown, because a secret could stand in it by mistake. */
  readonly confidential?: true;
}

/** When a request may proceed although the captcha service gave no verdict. */
export const FAIL_OPEN_POLICIES = ['faults', 'always', 'never'] as const;

/** The regions that both upstreams have. */
export const REGIONS = ['GLB', 'NA', 'EU'] as const;

export type Region = (typeof REGIONS)[number];

/** Digits that make a number within these bounds. */
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((number) => number >= min && number <= max);

/** A JSON list of at least one object, no two with the same `id`. */
export const listOf = <Shape extends z.ZodRawShape, Id extends keyof Shape & string>(shape: Shape, id: Id) =>
  z
    .string()
    .transform((text, context) => {
      try {
        const json: unknown = JSON.parse(text);
        return json;
      } catch {
        context.addIssue({ code: 'custom', message: 'it is not JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.array(z.object(shape)).min(1))
    .refine((list) => new Set(list.map((entry) => Object(entry)[id])).size === list.length, {
      error: `two entries have the same ${id}`,
    });

/** Visible ASCII: anything else could not be sent in a header, or would end the header early. */
export const credential = z.string().regex(/^[\x21-\x7e]+$/);
/** Any text can be the key of an HMAC, but white space around one comes from copying it. */
export const captchaKey = z.string().regex(/^\S(.*\S)?$/s);
/** One of the regions that both upstreams have. */
export const region = z.enum(REGIONS);

/** Those of pino, from the most to the least. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const withoutSlash = (text: string) => text.replace(/\/+$/, '');

const anyAddress = z
  .string()
  .refine((text) => URL.canParse(text) && !/\s/.test(text), { error: 'no address', abort: true })
  .refine((text) => !/[?#@]/.test(text), 'a user, query or fragment');

/** An address that paths are appended to, without a slash at its end. */
export const baseUrl = anyAddress.refine(isEncryptedOrLocal, 'not https').transform(withoutSlash);

/** The same within the operator's own network, where plain http is usual. */
export const internalUrl = anyAddress
  .refine((text) => /^https?:/.test(text), 'neither http nor https')
  .transform(withoutSlash);

/** An upstream's address, as a variable has it. */
export const address = {
  expected: 'an https address without user, query or fragment; plain http only to this machine',
  schema: baseUrl,
  confidential: true,
} as const;
/** A number within bounds, as a variable has it. */
export const whole = (min: number, max: number) => ({
  expected: `a whole number from ${min} to ${max}`,
  schema: integer(min, max),
});
/** A port that is 0 or within what the system has, as a variable has it. */
export const port = (max: number) => ({ expected: `a port from 0 to ${max}`, schema: integer(0, max) });
export const milliseconds = whole(1, 60_000);

function isEncryptedOrLocal(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}
