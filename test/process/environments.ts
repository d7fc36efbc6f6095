/** Environments in which a process starts, one for each mode. */

export const SANDBOX = { UPSTREAM_MODE: 'sandbox', SANDBOX_PORT: '0' };

/** Nobody answers where its upstreams should be, so the process does not wait for them. */
export const LIVE = {
  ALLOW_DIRECT_ACCESS: 'true',
  FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_shop","secret":"sk_shop","region":"NA"}]',
  FINGERPRINT_URL_NA: 'http://127.0.0.1:9',
  CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"key_shop","region":"EU"}]`,
  CAPTCHA_URL_EU: 'http://127.0.0.1:9',
  UPSTREAM_CHECK: 'off',
};
