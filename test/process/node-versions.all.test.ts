import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ROOT, startCommand } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';

/** What `npm run build` makes on the older lines of Node, each fetched from npm once: it runs, or says which Node it needs. */

const { engines, scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const NODES = join(ROOT, 'node_modules/.cache/runtimes');
const OLDEST: string = engines.node.replace('>=', '');

/** The executable of a version of Node, or of the newest one of a line. */
async function install(wanted: string): Promise<string> {
  const prefix = join(NODES, wanted);
  const options = ['--prefix', prefix, '--no-audit', '--no-fund', '--prefer-offline', `node@${wanted}`];
  await promisify(execFile)('npm', ['install', ...options]);
  const node = join(prefix, 'node_modules/node/bin/node');
  const { stdout } = await promisify(execFile)(node, ['--version']);
  expect(`${stdout.trim()}.`).toContain(`v${wanted}.`);
  return node;
}

test.each(
  ['18', '22.18.0'].flatMap((wanted) => [
    [wanted, 'the build', 'node dist/server/main.js'] as const,
    [wanted, 'npm test', scripts.test] as const,
  ]),
)('Node %s says in a sentence which one %s needs', async (wanted, _what, command) => {
  // npm would put the Node of the development dependencies first.
  const PATH = `${dirname(await install(wanted))}:${join(ROOT, 'node_modules/.bin')}:/usr/bin:/bin`;
  const child = startCommand(['sh', '-c', command], { cwd: ROOT, env: { PATH } });
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  expect(child.stderr()).toMatch(
    new RegExp(`^expected Node ${OLDEST} or later, but got ${wanted}[.\\d]* \\(/.*\\)\\.\\n$`),
  );
});

test.each([OLDEST, '24'])('Node %s answers both questions, and ends with 0 at SIGTERM', async (wanted) => {
  const node = await install(wanted);
  const env = { UPSTREAM_MODE: 'sandbox', PORT: '0', ADMIN_PORT: '0', SANDBOX_PORT: '0', SHUTDOWN_GRACE_MS: '0' };
  const child = await untilEnd(startCommand([node, 'dist/server/main.js'], { cwd: ROOT, env }));
  const [, sandboxUrl = ''] = await child.waitFor(/(http:\/\/127\.0\.0\.1:\d+)\/sandbox\/challenges/);
  const [, url = ''] = await child.waitFor(/Device trust is at (\S+\/graphql)/);
  const device = await ask(url, FINGERPRINT_QUERY, { token: 'sandbox:ios:VPN_ENABLED' });
  expect(device.data.deviceFingerprint).toMatchObject({ clientType: 'IOS', signals: [{ code: 'VPN_ENABLED' }] });
  const captcha = await ask(url, CAPTCHA_MUTATION, { input: await solveChallenge(sandboxUrl) });
  expect(captcha.data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed', proceed: true });
  expect(await child.end('SIGTERM')).toBe(0);
});
