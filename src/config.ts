import { z } from 'zod';

/** What the process is told from outside, parsed once at boot. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly upstreams: SandboxUpstreams | LiveUpstreams;
  readonly fingerprintTimeoutMs: number;
  readonly captchaTimeoutMs: number;
  readonly captchaFailOpen: 'faults' | 'always' | 'never';
}

/** The embedded sandbox serves, with its own applications and captcha ids. */
export interface SandboxUpstreams {
  readonly mode: 'sandbox';
  /** Of its GLB listener; NA and EU follow. 0 picks free ones. */
  readonly port: number;
}

/** The real services serve. Each list's first entry is the one that serves when a caller names none. */
export interface LiveUpstreams {
  readonly mode: 'live';
  readonly applications: readonly { publicKey: string; secret: string; baseUrl: string }[];
  readonly captchas: readonly { captchaId: string; captchaKey: string; baseUrl: string }[];
}

/** The regions that both upstreams have. */
export const REGIONS = ['GLB', 'NA', 'EU'] as const;

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

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/)
    .transform(Number)
    .refine((number) => number >= min && number <= max);

/** A JSON list of at least one object, no two with the same `id`. */
const listOf = <Shape extends z.ZodRawShape, Id extends keyof Shape & string>(shape: Shape, id: Id) =>
  z
    .string()
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: 'it is not JSON' });
        return z.NEVER;
      }
    })
    .pipe(z.array(z.object(shape)).min(1))
    .refine((list) => new Set(list.map((entry) => Object(entry)[id])).size === list.length, {
      error: `two entries have the same ${id}`,
    });

// Visible ASCII: anything else could not be sent in a header, or would end the header early.
const credential = z.string().regex(/^[\x21-\x7e]+$/);
// Any text can be the key of an HMAC, but white space around one comes from copying it.
const captchaKey = z.string().regex(/^\S(.*\S)?$/s);
const region = z.enum(REGIONS);

const baseUrl = {
  expected: 'an https address without user, query or fragment; plain http only to this machine',
  schema: z
    .string()
    .refine((text) => URL.canParse(text) && !/\s/.test(text), { error: 'no address', abort: true })
    .refine((text) => !/[?#@]/.test(text), 'a user, query or fragment')
    .refine(isEncryptedOrLocal, 'not https')
    .transform((text) => text.replace(/\/+$/, '')),
  confidential: true,
} as const;
const milliseconds = { expected: 'a whole number from 1 to 60000', schema: integer(1, 60_000) };

/** Every variable, once. The README's table is checked against this one. */
export const VARIABLES = {
  upstreamMode: {
    name: 'UPSTREAM_MODE',
    description: 'Who answers: the real services, or the embedded sandbox',
    expected: 'live or sandbox',
    schema: z.enum(['live', 'sandbox']),
    default: 'live',
  },
  host: {
    name: 'HOST',
    description: 'Address to listen on',
    expected: 'an address of this machine',
    schema: z.string(),
    default: '127.0.0.1',
  },
  port: {
    name: 'PORT',
    description: 'Port to listen on; 0 picks a free one',
    expected: 'a port from 0 to 65535',
    schema: integer(0, 65_535),
    default: '4001',
  },
  sandboxPort: {
    name: 'SANDBOX_PORT',
    description: 'Port of the sandbox for GLB, with NA and EU on the next two; 0 picks free ones',
    expected: 'a port from 0 to 65533',
    schema: integer(0, 65_533),
    default: '4100',
  },
  fingerprintApplications: {
    name: 'FINGERPRINT_APPLICATIONS',
    description: 'Applications of the fingerprint service; the first serves when a query names none',
    expected: 'a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys',
    // `.` and `..` would be resolved away as a part of a path.
    schema: listOf({ publicKey: credential.regex(/[^.]/), secret: credential, region }, 'publicKey'),
    secret: true,
  },
  fingerprintUrlGlb: { name: 'FINGERPRINT_URL_GLB', description: 'Fingerprint service of region GLB', ...baseUrl },
  fingerprintUrlNa: { name: 'FINGERPRINT_URL_NA', description: 'Fingerprint service of region NA', ...baseUrl },
  fingerprintUrlEu: { name: 'FINGERPRINT_URL_EU', description: 'Fingerprint service of region EU', ...baseUrl },
  fingerprintTimeoutMs: {
    name: 'FINGERPRINT_TIMEOUT_MS',
    description: 'Deadline of a fingerprint call in ms, from connecting to the last byte',
    ...milliseconds,
    default: '3000',
  },
  captchaConfigurations: {
    name: 'CAPTCHA_CONFIGURATIONS',
    description: 'Captcha ids; the first serves when a mutation names none',
    expected:
      'a JSON list of {"captchaId", "captchaKey", "region"}, region GLB, NA or EU, with different captcha ids of 32 characters',
    // 32 characters: captcha document, section 8.
    schema: listOf({ captchaId: credential.length(32), captchaKey, region }, 'captchaId'),
    secret: true,
  },
  captchaUrlGlb: { name: 'CAPTCHA_URL_GLB', description: 'Captcha service of region GLB', ...baseUrl },
  captchaUrlNa: { name: 'CAPTCHA_URL_NA', description: 'Captcha service of region NA', ...baseUrl },
  captchaUrlEu: { name: 'CAPTCHA_URL_EU', description: 'Captcha service of region EU', ...baseUrl },
  captchaTimeoutMs: {
    name: 'CAPTCHA_TIMEOUT_MS',
    description: 'Deadline of a captcha call in ms, from connecting to the last byte',
    ...milliseconds,
    default: '5000',
  },
  captchaFailOpen: {
    name: 'CAPTCHA_FAIL_OPEN',
    description:
      'May a request proceed when the captcha service gives no verdict: unless the caller can have caused it, always, or never',
    expected: 'faults, always or never',
    schema: z.enum(['faults', 'always', 'never']),
    default: 'faults',
  },
} as const satisfies Record<string, Variable>;

function isEncryptedOrLocal(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname));
}
