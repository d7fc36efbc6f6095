import { ConfigError } from '../../src/config/parser.ts';
import { parseConfig } from '../../src/settings/variables.ts';

/** A configuration that is right, for the tests of the configuration to begin with. */

type Texts = Readonly<Record<string, string>>;

export const ID = 'a'.repeat(32);
export const APPLICATION = { publicKey: 'pk_shop', secret: 'sk_shop', region: 'GLB' };
export const CAPTCHA = { captchaId: ID, captchaKey: 'key_shop', region: 'GLB' };
export const SERVICE = { name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] };
export const APPLICATIONS = JSON.stringify([APPLICATION]);
export const CAPTCHAS = JSON.stringify([CAPTCHA]);
/** Each service alone, and live mode with both without an answer to the question of access. */
export const DEVICES = { FINGERPRINT_APPLICATIONS: APPLICATIONS, FINGERPRINT_URL_GLB: 'https://fp.test' };
export const CAPTCHAS_ONLY = { CAPTCHA_CONFIGURATIONS: CAPTCHAS, CAPTCHA_URL_GLB: 'https://captcha.test' };
export const REST = { ...DEVICES, ...CAPTCHAS_ONLY };
export const LIVE = { ALLOW_DIRECT_ACCESS: 'true', ...REST };
/** Stands where a secret could: no sentence may show it. */
export const CANARY = 'canary-7f3a';

/** Reads a configuration; no file but these can be read. */
export const parse = (env: Texts, files: Texts = {}) =>
  parseConfig(env, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  });

/** The sentences about what is wrong; none if it is right. Files are given by their paths, or by what reads them. */
export function problemsOf(env: Texts, files: Texts | ((path: string) => string) = {}): readonly string[] {
  return problemsIn(() => (typeof files === 'function' ? parseConfig(env, files) : parse(env, files)));
}

export function problemsIn(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
