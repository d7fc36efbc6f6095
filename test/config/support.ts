import { ConfigError, parseConfig } from '../../src/config/parser.ts';

/** What the tests of the configuration begin with: one that is right. */

type Texts = Readonly<Record<string, string>>;

export const ID = 'a'.repeat(32);
export const APPLICATION = { publicKey: 'pk_1', secret: 'sk_1', region: 'GLB' };
export const CAPTCHA = { captchaId: ID, captchaKey: 'key_1', region: 'GLB' };
export const APPLICATIONS = JSON.stringify([APPLICATION]);
export const CAPTCHAS = JSON.stringify([CAPTCHA]);
export const LIVE = {
  ALLOW_DIRECT_ACCESS: 'true',
  FINGERPRINT_APPLICATIONS: APPLICATIONS,
  FINGERPRINT_URL_GLB: 'https://fp.example',
  CAPTCHA_CONFIGURATIONS: CAPTCHAS,
  CAPTCHA_URL_GLB: 'https://captcha.example',
};
/** Stands where a secret could: no sentence may show it. */
export const CANARY = 'canary-7f3a';

/** No file but these can be read. */
export const parse = (env: Texts, files: Texts = {}) =>
  parseConfig(env, (path) => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  });

/** The sentences about what is wrong; none if it is right. */
export function problemsOf(env: Texts, files: Texts = {}): readonly string[] {
  try {
    parse(env, files);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
