import type { Environment } from './parser.ts';

/** An address of this machine. A port alone is such an address. */
const LOCAL = String.raw`(\d+|(localhost|127(\.\d+){3}|\[::1\])(:\d+)?)(?=\s|$)`;

/** Switches of Node that undo a promise of live mode, each with its effect. */
const UNSAFE: readonly (readonly [form: RegExp, effect: string])[] = [
  [/--insecure-http-parser\b/, 'accepts requests that proxies read in another way'],
  [new RegExp(`--inspect(-brk|-wait|-port)?[= ](?!-|${LOCAL})`), 'opens the debugger to other machines'],
];

/** A sentence for each switch of Node, and of a library, that live mode refuses. */
export function unsafeSwitches(env: Environment, execArgv: readonly string[]): string[] {
  const sources = { NODE_OPTIONS: env['NODE_OPTIONS'] ?? '', 'the command line': execArgv.join(' ') };
  const problems = Object.entries(sources).flatMap(([source, text]) =>
    UNSAFE.flatMap(([form, effect]) => {
      const [found] = form.exec(text) ?? [];
      return found ? [`${source}: expected no ${found.split(/[= ]/, 1)}, but got it, which ${effect}.`] : [];
    }),
  );
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0')
    problems.push(
      'NODE_TLS_REJECT_UNAUTHORIZED: expected nothing, but got 0, which lets any server pose as the service.',
    );
  // DEBUG lists modules that log to stderr. ioredis is the client of the store.
  const hasStore = Boolean(env['QUOTA_STORE_URL'] || env['QUOTA_STORE_URL_FILE']);
  if (hasStore && /(^|[\s,])(\*|ioredis)/.test(env['DEBUG'] ?? ''))
    problems.push(
      'DEBUG: expected a value without ioredis, but got one with it, which writes the password of the store to the log.',
    );
  return problems;
}
