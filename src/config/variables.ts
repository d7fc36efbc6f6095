import type { z } from 'zod';
import * as json from './json-values.ts';
import * as kind from './values.ts';

/** One environment variable: a row of the table. */
export interface Variable extends kind.Kind {
  readonly name: string;
  /** The text that is read if the variable is not set, as an operator would write it. */
  readonly default?: string;
}

const milliseconds = kind.whole(1, 60_000);

/** Every variable. The parser, the type `Config` and the check of names follow from the rows. `deploy/README.md` explains them. */
export const VARIABLES = {
  upstreamMode: { name: 'UPSTREAM_MODE', ...kind.choice('live', 'sandbox'), default: 'live' },
  host: { name: 'HOST', ...kind.anyText('an address of this machine'), default: '127.0.0.1' },
  port: { name: 'PORT', ...kind.port(65_535), default: '4001' },

  // Who may ask.
  routerSecrets: { name: 'ROUTER_SECRETS', ...kind.ownSecrets },
  services: { name: 'SERVICES', ...json.services },
  trustedHeaders: { name: 'TRUSTED_HEADERS', ...json.trustedHeaders },
  allowDirectAccess: { name: 'ALLOW_DIRECT_ACCESS', ...kind.toggle, default: 'false' },
  sandboxHost: { name: 'SANDBOX_HOST', ...kind.anyText('an address of this machine'), default: '127.0.0.1' },
  sandboxPort: { name: 'SANDBOX_PORT', ...kind.port(65_533), default: '4100' },

  // The two services, and what is said about their answers.
  fingerprintApplications: { name: 'FINGERPRINT_APPLICATIONS', ...json.applications },
  fingerprintUrlGLB: { name: 'FINGERPRINT_URL_GLB', ...kind.address },
  fingerprintUrlNA: { name: 'FINGERPRINT_URL_NA', ...kind.address },
  fingerprintUrlEU: { name: 'FINGERPRINT_URL_EU', ...kind.address },
  fingerprintTimeoutMs: { name: 'FINGERPRINT_TIMEOUT_MS', ...milliseconds, default: '3000' },
  fingerprintQuota: { name: 'FINGERPRINT_QUOTA', ...json.quota },
  riskPolicyFile: { name: 'RISK_POLICY_FILE', ...kind.anyText('the path of a JSON file') },
  captchaConfigurations: { name: 'CAPTCHA_CONFIGURATIONS', ...json.captchas },
  captchaUrlGLB: { name: 'CAPTCHA_URL_GLB', ...kind.address },
  captchaUrlNA: { name: 'CAPTCHA_URL_NA', ...kind.address },
  captchaUrlEU: { name: 'CAPTCHA_URL_EU', ...kind.address },
  captchaTimeoutMs: { name: 'CAPTCHA_TIMEOUT_MS', ...milliseconds, default: '5000' },
  captchaFailOpen: { name: 'CAPTCHA_FAIL_OPEN', ...kind.choice('faults', 'always', 'never'), default: 'faults' },
  captchaQuota: { name: 'CAPTCHA_QUOTA', ...json.quota },
  sealingKeys: { name: 'SEALING_KEYS', ...json.sealingKeys },
  upstreamCheck: { name: 'UPSTREAM_CHECK', ...kind.choice('first', 'all', 'off'), default: 'first' },
  attestation: { name: 'ATTESTATION', ...json.attestation },
  attestationKeys: { name: 'ATTESTATION_KEYS', ...json.attestationKeys },
  quotaStoreUrl: { name: 'QUOTA_STORE_URL', ...kind.storeAddress },

  // How much one request may ask.
  maxBodyBytes: { name: 'MAX_BODY_BYTES', ...kind.whole(1_024, 10_485_760), default: '524288' },
  maxRepresentations: { name: 'MAX_REPRESENTATIONS', ...kind.whole(1, 100_000), default: '1000' },
  maxCost: { name: 'MAX_COST', ...kind.whole(100, 10_000_000), default: '119000' },
  maxAnswerBytes: { name: 'MAX_ANSWER_BYTES', ...kind.whole(1_024, 104_857_600), default: '8388608' },
  maxUpstreamCalls: { name: 'MAX_UPSTREAM_CALLS', ...kind.whole(1, 10_000), default: '100' },
  maxCaptchas: { name: 'MAX_CAPTCHAS', ...kind.whole(1, 100), default: '1' },

  // How much a process does at once.
  maxConnections: { name: 'MAX_CONNECTIONS', ...kind.whole(1, 100_000), default: '4096' },
  upstreamMaxInFlight: { name: 'UPSTREAM_MAX_IN_FLIGHT', ...kind.whole(1, 10_000), default: '512' },
  shutdownGraceMs: { name: 'SHUTDOWN_GRACE_MS', ...kind.whole(0, 30_000), default: '2000' },

  // What is logged, counted and traced. The names that begin with `OTEL_` are OpenTelemetry's.
  logLevel: {
    name: 'LOG_LEVEL',
    ...kind.choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
  },
  logSample: { name: 'LOG_SAMPLE', ...kind.ratio, default: '1' },
  logHashKey: { name: 'LOG_HASH_KEY', ...kind.ownSecret },
  adminPort: { name: 'ADMIN_PORT', ...kind.port(65_535), default: '9464' },
  otlpEndpoint: { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', ...kind.internalAddress },
  otelServiceName: { name: 'OTEL_SERVICE_NAME', ...kind.visibleText(1, 255) },
  otelResourceAttributes: { name: 'OTEL_RESOURCE_ATTRIBUTES', ...kind.resourceAttributes },
  otelTracesSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    ...kind.choice(
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ),
    default: 'parentbased_traceidratio',
  },
  otelTracesSamplerArg: { name: 'OTEL_TRACES_SAMPLER_ARG', ...kind.ratio, default: '0.1' },
} as const satisfies Record<string, Variable>;

type Rows = typeof VARIABLES;

type Value<Row> = Row extends { readonly schema: z.ZodType<infer Output> }
  ? Row extends { readonly default: string } | { readonly absent: unknown }
    ? Output
    : Output | undefined
  : never;

/** The value of every variable. One that is not set and has no default is undefined, or empty if it is a list. */
export type Config = { readonly [Key in keyof Rows]: Value<Rows[Key]> };
