import type { TestContext } from 'vitest';
import { MAIN, PATIENT, startProcess, type TestProcess } from '../support/process.ts';
import { untilEnd } from '../support/until-end.ts';

/** Environments in which a process starts, one for each mode. */

export const SANDBOX = { UPSTREAM_MODE: 'sandbox', SANDBOX_PORT: '0', PORT: '0', SHUTDOWN_GRACE_MS: '0', ...PATIENT };

/** Nobody answers where its upstreams should be, so the process does not wait for them. */
export const LIVE = {
  ALLOW_DIRECT_ACCESS: 'true',
  FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_shop","secret":"sk_shop","region":"NA"}]',
  FINGERPRINT_URL_NA: 'http://127.0.0.1:9',
  CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"key_shop","region":"EU"}]`,
  CAPTCHA_URL_EU: 'http://127.0.0.1:9',
  UPSTREAM_CHECK: 'off',
  PORT: '0',
  SHUTDOWN_GRACE_MS: '0',
};

/** What `preload.ts` is for, as variables. */
export const preload = (PRELOAD: string) => ({ NODE_OPTIONS: '--import=./test/process/preload.ts', PRELOAD });

/** Where a process says that GraphQL is: in the log of live mode, and in the greeting of the sandbox. */
const IN_LOG = /"url":"([^"]+)"/;
const IN_GREETING = /Device trust is at (\S+),[\s\S]*validateCaptcha[^\n]*\n/;

/** A test, which may run beside others of its file. */
export type Context = Pick<TestContext, 'onTestFinished'>;

/** Starts the server, waits until it says where it is, and makes sure that it is gone after the test. */
export async function startServing(context: Context, env: Readonly<Record<string, string>>, script = MAIN) {
  const child: TestProcess = await untilEnd(startProcess(script, env), context);
  const [, graphqlUrl = ''] = await child.waitFor('UPSTREAM_MODE' in env ? IN_GREETING : IN_LOG);
  return { child, graphqlUrl, urlOf: (path: string) => new URL(path, graphqlUrl).href };
}

/** The objects on the lines of a text. */
export const objectsOn = (text: string): Readonly<Record<string, unknown>>[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
