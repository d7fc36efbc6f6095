/** Who is measured, as data: how each is started, and what a request to it has to carry. */

export interface Contender {
  readonly name: string;
  /** Paths from the project's folder: what is measured, and the sources that it was built from. */
  readonly built: string;
  readonly source: string;
  /** `{upstream}` stands for the address of the upstream. */
  readonly env: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

const ROUTER_SECRET = 'secret-of-the-bench-router';

/** Production by the README: live mode with every default. The README does not mention NODE_ENV, so it is not set here. */
const OURS: Contender = {
  name: 'ours',
  built: 'dist/server/main.js',
  source: 'src/main.ts',
  env: {
    PORT: '0',
    ADMIN_PORT: '0',
    // As `npm start` has it.
    NODE_COMPILE_CACHE: 'dist/compiled',
    ROUTER_SECRETS: ROUTER_SECRET,
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_bench","secret":"sk_bench","region":"EU"}]',
    FINGERPRINT_URL_EU: '{upstream}',
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'b'.repeat(32)}","captchaKey":"key_bench","region":"EU"}]`,
    CAPTCHA_URL_EU: '{upstream}',
  },
  headers: { 'router-authorization': ROUTER_SECRET },
};

/** NODE_ENV makes these faster, if it makes any difference. They check nothing, so they want no header. */
function other(name: string): Contender {
  return {
    name,
    built: `dist/bench/test/bench/contenders/${name}.js`,
    source: `test/bench/contenders/${name}.ts`,
    env: { NODE_ENV: 'production', UPSTREAM_URL: '{upstream}' },
    headers: {},
  };
}

/** Those that the goals speak of. */
export const OURS_NAME = OURS.name;
export const FLOOR_NAME = 'floor';
export const TEMPLATE_NAME = 'apollo-fetch';

/** In the order of the rounds. */
export const CONTENDERS: readonly Contender[] = [
  OURS,
  other(FLOOR_NAME),
  other(TEMPLATE_NAME),
  other('apollo-undici'),
  other('mercurius'),
  other('yoga'),
];
