import type { z } from 'zod';
import {
  applications,
  attestation,
  attestationKeys,
  captchas,
  quota,
  sealingKeys,
  services,
  trustedHeaders,
} from './json-values.ts';
import {
  address,
  anyText,
  choice,
  internalAddress,
  type Kind,
  ownSecret,
  ownSecrets,
  port,
  ratio,
  resourceAttributes,
  storeAddress,
  toggle,
  visibleText,
  whole,
} from './values.ts';

/** One environment variable: a row of the table. */
export interface Variable extends Kind {
  readonly name: string;
  /** The text that is read if the variable is not set, as an operator would write it. */
  readonly default?: string;
}

/** A deadline in ms. */
const milliseconds = whole(1, 60_000);

/**
 * Every variable, with one row for each. The parser, the type `Config` and the check of names follow from the rows. What each one
 * is for is said in `deploy/README.md`, whose table a test compares with this one.
 */
export const VARIABLES = {
  upstreamMode: { name: 'UPSTREAM_MODE', ...choice('live', 'sandbox'), default: 'live' },
  host: { name: 'HOST', ...anyText('an address of this machine'), default: '127.0.0.1' },
  port: { name: 'PORT', ...port(65_535), default: '4001' },

  // Who may ask.
  routerSecrets: { name: 'ROUTER_SECRETS', ...ownSecrets },
  services: { name: 'SERVICES', ...services },
  trustedHeaders: { name: 'TRUSTED_HEADERS', ...trustedHeaders },
  allowDirectAccess: { name: 'ALLOW_DIRECT_ACCESS', ...toggle, default: 'false' },
  sandboxPort: { name: 'SANDBOX_PORT', ...port(65_533), default: '4100' },

  // The two services, and what is said about their answers.
  fingerprintApplications: { name: 'FINGERPRINT_APPLICATIONS', ...applications },
  fingerprintUrlGLB: { name: 'FINGERPRINT_URL_GLB', ...address },
  fingerprintUrlNA: { name: 'FINGERPRINT_URL_NA', ...address },
  fingerprintUrlEU: { name: 'FINGERPRINT_URL_EU', ...address },
  fingerprintTimeoutMs: { name: 'FINGERPRINT_TIMEOUT_MS', ...milliseconds, default: '3000' },
  fingerprintQuota: { name: 'FINGERPRINT_QUOTA', ...quota },
  riskPolicyFile: { name: 'RISK_POLICY_FILE', ...anyText('the path of a JSON file') },
  captchaConfigurations: { name: 'CAPTCHA_CONFIGURATIONS', ...captchas },
  captchaUrlGLB: { name: 'CAPTCHA_URL_GLB', ...address },
  captchaUrlNA: { name: 'CAPTCHA_URL_NA', ...address },
  captchaUrlEU: { name: 'CAPTCHA_URL_EU', ...address },
  captchaTimeoutMs: { name: 'CAPTCHA_TIMEOUT_MS', ...milliseconds, default: '5000' },
  captchaFailOpen: { name: 'CAPTCHA_FAIL_OPEN', ...choice('faults', 'always', 'never'), default: 'faults' },
  captchaQuota: { name: 'CAPTCHA_QUOTA', ...quota },
  sealingKeys: { name: 'SEALING_KEYS', ...sealingKeys },
  upstreamCheck: { name: 'UPSTREAM_CHECK', ...choice('first', 'all', 'off'), default: 'first' },
  attestation: { name: 'ATTESTATION', ...attestation },
  attestationKeys: { name: 'ATTESTATION_KEYS', ...attestationKeys },
  quotaStoreUrl: { name: 'QUOTA_STORE_URL', ...storeAddress },

  // How much one request may ask.
  maxBodyBytes: { name: 'MAX_BODY_BYTES', ...whole(1_024, 10_485_760), default: '524288' },
  maxRepresentations: { name: 'MAX_REPRESENTATIONS', ...whole(1, 100_000), default: '1000' },
  maxCost: { name: 'MAX_COST', ...whole(100, 10_000_000), default: '119000' },
  maxAnswerBytes: { name: 'MAX_ANSWER_BYTES', ...whole(1_024, 104_857_600), default: '8388608' },
  maxUpstreamCalls: { name: 'MAX_UPSTREAM_CALLS', ...whole(1, 10_000), default: '100' },
  maxCaptchas: { name: 'MAX_CAPTCHAS', ...whole(1, 100), default: '1' },

  // How much a process does at once.
  maxConnections: { name: 'MAX_CONNECTIONS', ...whole(1, 100_000), default: '4096' },
  upstreamMaxInFlight: { name: 'UPSTREAM_MAX_IN_FLIGHT', ...whole(1, 10_000), default: '512' },
  shutdownGraceMs: { name: 'SHUTDOWN_GRACE_MS', ...whole(0, 30_000), default: '2000' },

  // What is logged, counted and traced. The names that begin with `OTEL_` are OpenTelemetry's.
  logLevel: {
    name: 'LOG_LEVEL',
    ...choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
  },
  logSample: { name: 'LOG_SAMPLE', ...ratio, default: '1' },
  logHashKey: { name: 'LOG_HASH_KEY', ...ownSecret },
  adminPort: { name: 'ADMIN_PORT', ...port(65_535), default: '9464' },
  otlpEndpoint: { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', ...internalAddress },
  otelServiceName: { name: 'OTEL_SERVICE_NAME', ...visibleText(1, 255) },
  otelResourceAttributes: { name: 'OTEL_RESOURCE_ATTRIBUTES', ...resourceAttributes },
  otelTracesSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    ...choice(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    default: 'parentbased_traceidratio',
  },
  otelTracesSamplerArg: { name: 'OTEL_TRACES_SAMPLER_ARG', ...ratio, default: '0.1' },
} as const satisfies Record<string, Variable>;

type Rows = typeof VARIABLES;

type Value<Row> = Row extends { readonly schema: z.ZodType<infer Output> }
  ? Row extends { readonly default: string } | { readonly absent: unknown }
    ? Output
    : Output | undefined
  : never;

/** The value of every variable. One that is not set and has no default is undefined, or empty if it is a list. */
export type Config = { readonly [Key in keyof Rows]: Value<Rows[Key]> };
