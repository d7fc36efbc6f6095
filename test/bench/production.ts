/** Our server's configuration, everything that a production has: its deployment's README sets each of these. */

const ROUTER_SECRET = 'secret-of-the-bench-router';
/** Large enough to count every call and to refuse none. */
const QUOTA = '{"perSecond":999999999,"perDay":999999999}';
const CAPTCHA_ID = 'b'.repeat(32);

/** Keys for this benchmark only; the first is one of 32 bytes of the number 7. */
export const SEALING_KEY = { kty: 'oct', k: Buffer.alloc(32, 7).toString('base64url'), kid: 'bench' } as const;
const ATTESTATION_KEY = {
  kid: 'bench',
  state: 'active',
  kty: 'EC',
  crv: 'P-256',
  x: 'JJ2tuYA3j3_wls32UsNngcAzY40--hO8qHqtEQjmNvg',
  y: '4mbM77x6RuqZI98xt7OJGCj79oEpMhwOfnFaoRAtz7k',
  d: 'K_U3EUkhQs3MBq4hlBRjRdUK3s2NatzspCDYSt0W8q4',
};

/** Whom a captcha can be attested to, and for what. */
export const AUDIENCE = { audience: 'orders', action: 'placeOrder' } as const;
const ATTESTATION = {
  issuer: 'https://device-trust.bench.test',
  audiences: [{ id: AUDIENCE.audience, actions: [AUDIENCE.action], subject: 'required' }],
};

const METADATA_HEADERS = { ipAddr: { header: 'x-client-ip' }, userAgent: { header: 'x-client-user-agent' } };

/** Callers with scopes: a service beside the router, and a header with the scopes of the person. */
const SCOPES = {
  SERVICES: '[{"name":"orders","secret":"secret-of-the-bench-orders","scopes":["risk:read"]}]',
  TRUSTED_HEADERS: JSON.stringify({ subject: 'x-user-id', scopes: 'x-user-scopes', metadata: METADATA_HEADERS }),
};
const NO_SCOPES = { TRUSTED_HEADERS: JSON.stringify({ subject: 'x-user-id', metadata: METADATA_HEADERS }) };

/** `{upstream}` stands for the address of the upstream. */
function environment(callers: Readonly<Record<string, string>>) {
  return {
    PORT: '0',
    ADMIN_PORT: '0',
    // As `npm start` has it.
    NODE_COMPILE_CACHE: 'dist/compiled',
    // Nothing has to notice that a server of the benchmark stops.
    SHUTDOWN_GRACE_MS: '0',
    ROUTER_SECRETS: ROUTER_SECRET,
    ...callers,
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_bench","secret":"sk_bench","region":"EU"}]',
    FINGERPRINT_URL_EU: '{upstream}',
    FINGERPRINT_QUOTA: QUOTA,
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${CAPTCHA_ID}","captchaKey":"key_bench","region":"EU"}]`,
    CAPTCHA_URL_EU: '{upstream}',
    CAPTCHA_QUOTA: QUOTA,
    SEALING_KEYS: JSON.stringify([SEALING_KEY]),
    ATTESTATION: JSON.stringify(ATTESTATION),
    ATTESTATION_KEYS: JSON.stringify([ATTESTATION_KEY]),
  };
}

/** Everything that has a default has it: limits, log, metrics, probes of the upstreams, the risk policy. */
export const PRODUCTION = environment(SCOPES);

/** The same without scopes. */
export const PRODUCTION_WITHOUT_SCOPES = environment(NO_SCOPES);

/** What a router sends with each request. */
export const ROUTER_HEADERS = {
  accept: 'application/json',
  'user-agent': 'router',
  'router-authorization': ROUTER_SECRET,
  'x-user-id': 'user-4711',
  'x-user-scopes': 'risk:read',
  'x-client-ip': '203.0.113.10',
  'x-client-user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
};
