import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../support/loopback.ts';
import { MAIN, ROOT, startCommand, startProcess } from '../support/process.ts';

/** What the process writes when it refuses to start. */

const open: { stop(): Promise<unknown> }[] = [];
afterEach(() => Promise.all(open.splice(0).map((one) => one.stop())));

/** Runs a program to its end, which has to come by itself. */
async function run(env: Readonly<Record<string, string>>, script = MAIN) {
  const child = startProcess(script, env);
  open.push(child);
  const code = await child.ended;
  return { code, stdout: child.stdout(), stderr: child.stderr() };
}

async function takePort(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  open.push({ stop: () => new Promise((resolve) => server.close(resolve)) });
  return String(port);
}

const CANARY = 'canary-7f3a';
const LIVE = {
  ALLOW_DIRECT_ACCESS: 'true',
  ADMIN_PORT: '0',
  FINGERPRINT_APPLICATIONS: `[{"publicKey":"pk_shop","secret":"${CANARY}","region":"GLB"}]`,
  FINGERPRINT_URL_GLB: 'http://127.0.0.1:9',
  CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"${CANARY}","region":"GLB"}]`,
  CAPTCHA_URL_GLB: 'http://127.0.0.1:9',
};

test('five mistakes are five sentences, without the secret that is among them', async () => {
  const { code, stdout, stderr } = await run({
    ...LIVE,
    PORT: '70000',
    FINGERPRINT_APPLICATIONS: `[{"publicKey":"pk_shop","secret":"${CANARY} ","region":"GLB"}]`,
    FINGERPRINT_TIMEOUT_MS: '3s',
    CAPTCHA_URL_GLB: 'http://captcha.test',
    CAPTCHA_FAIL_OPEN: 'true',
  });
  expect([code, stdout]).toEqual([1, '']);
  const [headline, ...sentences] = stderr.trimEnd().split('\n');
  expect(headline).toBe('The configuration has to be corrected:');
  expect(sentences.map((sentence) => sentence.replace(/: expected .* but got .*\.$/, '')).sort()).toEqual([
    '  CAPTCHA_FAIL_OPEN',
    '  CAPTCHA_URL_GLB',
    '  FINGERPRINT_APPLICATIONS',
    '  FINGERPRINT_TIMEOUT_MS',
    '  PORT',
  ]);
  expect(stderr).not.toContain(CANARY);
});

describe('live mode', () => {
  test.each([
    ['with nothing', {}],
    ['asked for by name', { UPSTREAM_MODE: 'live' }],
    ['with addresses alone', { FINGERPRINT_URL_GLB: 'https://fp.test', CAPTCHA_URL_GLB: 'https://captcha.test' }],
    ['with a sandbox port', { SANDBOX_PORT: '0' }],
  ])('%s does not become the sandbox', async (_what, env) => {
    const { code, stdout, stderr } = await run({ PORT: '0', ...env });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^ {2}FINGERPRINT_APPLICATIONS: expected .* but got nothing\.$/m);
    expect(stderr).toMatch(/^ {2}CAPTCHA_CONFIGURATIONS: expected .* but got nothing\.$/m);
  });

  test('with a file of credentials that is not there', async () => {
    const { FINGERPRINT_APPLICATIONS: _, ...rest } = LIVE;
    const { code, stderr } = await run({ ...rest, FINGERPRINT_APPLICATIONS_FILE: '/nowhere/fp.json' });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toMatch(/^ {2}FINGERPRINT_APPLICATIONS_FILE: expected /m);
    expect(stderr).not.toContain(CANARY);
  });
});

test('the sandbox does not start beside live credentials', async () => {
  const { code, stdout, stderr } = await run({ ...LIVE, UPSTREAM_MODE: 'sandbox', PORT: '0', SANDBOX_PORT: '0' });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/FINGERPRINT_APPLICATIONS: .* while UPSTREAM_MODE is sandbox/);
  expect(stderr).not.toContain(CANARY);
});

describe('what cannot be listened on', () => {
  /** What stderr has to be, to the letter. */
  const refusal = (...sentences: string[]) =>
    ['The subgraph cannot listen:', ...sentences.map((sentence) => `  ${sentence}`), ''].join('\n');
  const SANDBOX = { UPSTREAM_MODE: 'sandbox', ADMIN_PORT: '0', SANDBOX_PORT: '0', PORT: '0' };

  test.each([
    ['the sandbox', SANDBOX],
    ['live mode', { ...LIVE, PORT: '0' }],
  ])('both ports are taken, in %s: each is a sentence', async (_what, env) => {
    const [port, adminPort] = [await takePort(), await takePort()];
    const { code, stdout, stderr } = await run({ ...env, PORT: port, ADMIN_PORT: adminPort });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      refusal(
        `PORT: expected a free port, but ${port} is taken.`,
        `ADMIN_PORT: expected a free port, but ${adminPort} is taken.`,
      ),
    );
  });

  test.each(['PORT', 'ADMIN_PORT'])('%s alone is taken', async (name) => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({ ...LIVE, PORT: '0', [name]: port });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(refusal(`${name}: expected a free port, but ${port} is taken.`));
  });

  test("one of the sandbox's ports is taken", async () => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({ ...SANDBOX, SANDBOX_PORT: port });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`  SANDBOX_PORT: expected a free port for region GLB, but ${port} is taken.\n`);
  });

  test('one port for both is a mistake in the configuration', async () => {
    const { code, stdout, stderr } = await run({ ...LIVE, PORT: '5000', ADMIN_PORT: '5000' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('  ADMIN_PORT: expected another port than PORT, but got 5000 for both.\n');
  });

  test('an address of another machine', async () => {
    const { code, stderr } = await run({ ...LIVE, PORT: '0', HOST: '192.0.2.1' });
    expect(code).toBe(1);
    expect(stderr).toBe(refusal('HOST: expected an address of this machine, but got "192.0.2.1".'));
  });

  const lowestOpenPort = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
  test.skipIf(lowestOpenPort <= 80)('a port that needs a privilege', async () => {
    // Root gives the privilege up. As another user it could perhaps not read the sources, or Node.
    const unprivileged = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-net_bind_service'] : [];
    const { PATH = '' } = process.env;
    const command = [...unprivileged, process.execPath, MAIN];
    const child = startCommand(command, { cwd: ROOT, env: { PATH, ...LIVE, PORT: '80' } });
    open.push(child);
    expect(await child.ended).toBe(1);
    expect(child.stderr()).toBe(refusal('PORT: expected a port that this user may open, but 80 needs a privilege.'));
  });
});

describe('names that are unknown', () => {
  test('refuse the start with the right name, beside every other mistake', async () => {
    const { code, stdout, stderr } = await run({ ...LIVE, MAX_ALIASE: '10', LOG_LEVL: 'debug', PORT: 'http' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.trimEnd().split('\n').sort()).toEqual([
      '  LOG_LEVL: there is no such variable. Did you mean LOG_LEVEL?',
      '  MAX_ALIASE: there is no such variable. Did you mean MAX_ALIASES?',
      '  PORT: expected a port from 0 to 65535, but got "http".',
      'The configuration has to be corrected:',
    ]);
  });
});

test('a placeholder of the documentation does not start in live mode', async () => {
  const { ALLOW_DIRECT_ACCESS: _, ...rest } = LIVE;
  const { code, stderr } = await run({ ...rest, ROUTER_SECRETS: 'change-me-to-a-long-random-text' });
  expect(code).toBe(1);
  expect(stderr).toBe(
    'The configuration has to be corrected:\n  ROUTER_SECRETS: expected a secret of your own, but got the placeholder of the documentation.\n',
  );
});

describe('the sandbox alone', () => {
  test.each(['65534', 'auto', '-1'])('SANDBOX_PORT=%s', async (port) => {
    const { code, stdout, stderr } = await run({ SANDBOX_PORT: port }, 'src/sandbox/main.ts');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(`SANDBOX_PORT: expected a port from 0 to 65533, but got "${port}".\n`);
  });

  test('a port that is taken is named with its region, without a stack', async () => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({ SANDBOX_PORT: port }, 'src/sandbox/main.ts');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`SANDBOX_PORT: expected a free port for region GLB, but ${port} is taken.\n`);
    for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^SANDBOX_PORT: .* is taken\.$/);
  });

  test('a mistyped name', async () => {
    const { code, stdout, stderr } = await run({ SANDBOX_PROT: '0' }, 'src/sandbox/main.ts');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('SANDBOX_PROT: there is no such variable. Did you mean SANDBOX_PORT?\n');
  });
});
