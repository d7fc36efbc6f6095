import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ROOT, startProcess, type TestProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';

/** What `npm start` runs. */

let upstream: TestUpstream | undefined;
let child: TestProcess | undefined;
afterEach(() => Promise.all([child?.stop(), upstream?.stop()]));

test('the build starts in live mode, answers and ends', async () => {
  // Without the environment of a test, in which the builder would print nothing.
  const { PATH } = process.env;
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'build'], { cwd: ROOT, env: { PATH } });
  // With `npm start --silent`, stdout is the log.
  expect(stdout).toBe('');
  upstream = await startUpstream((_request, response) => {
    response.writeHead(500).end();
  });
  child = startProcess('dist/server/main.js', {
    PORT: '0',
    ALLOW_DIRECT_ACCESS: 'true',
    SHUTDOWN_GRACE_MS: '0',
    ADMIN_PORT: '0',
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_shop","secret":"sk_shop","region":"GLB"}]',
    FINGERPRINT_URL_GLB: upstream.url,
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"key_shop","region":"GLB"}]`,
    CAPTCHA_URL_GLB: upstream.url,
  });
  const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
  expect(await (await fetch(new URL('/readyz', graphqlUrl))).text()).toBe('ready\n');

  const { errors } = await ask(graphqlUrl, FINGERPRINT_QUERY, { token: 'tok' });
  expect(errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
  expect(upstream.received).toMatchObject([{ url: '/api/v2/fp_query/pk_shop', body: '{"device_token":"tok"}' }]);

  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
}, 60_000);
