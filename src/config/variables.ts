import { z } from 'zod';
import { ATTESTATIONS } from './attestation.ts';
import { serviceList, trustedHeaders } from './callers.ts';
import { PROCESS_LIMITS } from './process-limits.ts';
import { REQUEST_LIMITS } from './request-limits.ts';
import { sealingKeyList } from './sealing-keys.ts';
import { TELEMETRY } from './telemetry.ts';
import {
  address,
  applicationList,
  captchaList,
  choice,
  milliseconds,
  port,
  quota,
  secretTexts,
  storeAddress,
  toggle,
  type Variable,
  whole,
} from './values.ts';

/**
 * Every variable, with one row for each. The parser, the type `Config` and the check of names follow from the rows. A test compares
 * the documentation's table with this one.
 */
export const VARIABLES = {
  upstreamMode: {
    name: 'UPSTREAM_MODE',
    description: 'Who answers: the real services, or the embedded sandbox',
    ...choice(['live', 'sandbox']),
    default: 'live',
  },
  host: {
    name: 'HOST',
    description: 'Address to listen on',
    expected: 'an address of this machine',
    schema: z.string(),
    default: '127.0.0.1',
  },
  port: { name: 'PORT', description: 'Port to listen on; 0 picks a free one', ...port(65_535), default: '4001' },
  routerSecrets: {
    name: 'ROUTER_SECRETS',
    description: 'Secrets of the router, which sends one as `Router-Authorization` with each GraphQL request',
    expected: 'a comma-separated list of 1 to 8 secrets, each of 16 to 256 visible ASCII characters',
    schema: secretTexts,
    absent: [],
    secret: true,
  },
  services: {
    name: 'SERVICES',
    description: 'Services that ask without the router; each sends its secret as `Authorization: Bearer`',
    ...serviceList,
    absent: [],
    secret: true,
  },
  trustedHeaders: {
    name: 'TRUSTED_HEADERS',
    description:
      'Headers in which the router and services name the person who asks, the scopes of this person, and what is known about the client',
    ...trustedHeaders,
  },
  allowDirectAccess: {
    name: 'ALLOW_DIRECT_ACCESS',
    description: 'Lets live mode answer anyone who reaches it, without `ROUTER_SECRETS` and `SERVICES`',
    ...toggle,
    default: 'false',
  },
  sandboxPort: {
    name: 'SANDBOX_PORT',
    description: 'Port of the sandbox for GLB, with NA and EU on the next two; 0 picks free ones',
    ...port(65_533),
    default: '4100',
  },
  fingerprintApplications: {
    name: 'FINGERPRINT_APPLICATIONS',
    description: 'Applications of the fingerprint service; the first serves when a query names none',
    ...applicationList,
    absent: [],
    secret: true,
  },
  fingerprintUrlGlb: { name: 'FINGERPRINT_URL_GLB', description: 'Fingerprint service of region GLB', ...address },
  fingerprintUrlNa: { name: 'FINGERPRINT_URL_NA', description: 'Fingerprint service of region NA', ...address },
  fingerprintUrlEu: { name: 'FINGERPRINT_URL_EU', description: 'Fingerprint service of region EU', ...address },
  fingerprintTimeoutMs: {
    name: 'FINGERPRINT_TIMEOUT_MS',
    description: 'Deadline of a fingerprint call in ms, from connecting to the last byte',
    ...milliseconds,
    default: '3000',
  },
  fingerprintQuota: { name: 'FINGERPRINT_QUOTA', description: 'Calls allowed for one application', ...quota },
  riskPolicyFile: {
    name: 'RISK_POLICY_FILE',
    description:
      'File with the risk policy, which is read again when it changes; without one the built-in policy decides',
    expected: 'the path of a JSON file',
    schema: z.string(),
  },
  captchaConfigurations: {
    name: 'CAPTCHA_CONFIGURATIONS',
    description: 'Captcha ids; the first serves when a mutation names none',
    ...captchaList,
    absent: [],
    secret: true,
  },
  captchaUrlGlb: { name: 'CAPTCHA_URL_GLB', description: 'Captcha service of region GLB', ...address },
  captchaUrlNa: { name: 'CAPTCHA_URL_NA', description: 'Captcha service of region NA', ...address },
  captchaUrlEu: { name: 'CAPTCHA_URL_EU', description: 'Captcha service of region EU', ...address },
  captchaTimeoutMs: {
    name: 'CAPTCHA_TIMEOUT_MS',
    description: 'Deadline of a captcha call in ms, from connecting to the last byte',
    ...milliseconds,
    default: '5000',
  },
  captchaFailOpen: {
    name: 'CAPTCHA_FAIL_OPEN',
    description:
      'May a request proceed when the captcha service gives no verdict: in an outage that probes have confirmed, always, or never',
    ...choice(['faults', 'always', 'never']),
    default: 'faults',
  },
  captchaQuota: { name: 'CAPTCHA_QUOTA', description: 'Verifications allowed for one captcha id', ...quota },
  sealingKeys: {
    name: 'SEALING_KEYS',
    description: 'Keys of sealed judgements: the first seals, and all open; `npm run keys` makes one',
    ...sealingKeyList,
    absent: [],
    secret: true,
  },
  upstreamCheck: {
    name: 'UPSTREAM_CHECK',
    description: 'Accounts that have to work before the process is ready: the first of each service, all, or none',
    ...choice(['first', 'all', 'off']),
    default: 'first',
  },
  upstreamCheckGraceMs: {
    name: 'UPSTREAM_CHECK_GRACE_MS',
    description: 'How long what may be an outage delays readiness, in ms',
    ...whole(0, 300_000),
    default: '15000',
  },
  ...ATTESTATIONS,
  quotaStoreUrl: { name: 'QUOTA_STORE_URL', description: 'Valkey or Redis where all replicas count', ...storeAddress },
  ...REQUEST_LIMITS,
  ...PROCESS_LIMITS,
  shutdownGraceMs: {
    name: 'SHUTDOWN_GRACE_MS',
    description: 'How long readiness fails, in ms, before a stopping process closes its connections',
    ...whole(0, 30_000),
    default: '2000',
  },
  ...TELEMETRY,
} as const satisfies Record<string, Variable>;

type Rows = typeof VARIABLES;

type Value<Row> = Row extends { readonly schema: z.ZodType<infer Output> }
  ? Row extends { readonly default: string } | { readonly absent: unknown }
    ? Output
    : Output | undefined
  : never;

/** The value of every variable. One that is not set and has no default is undefined, or an empty list if it is a list. */
export type Config = { readonly [Key in keyof Rows]: Value<Rows[Key]> };
