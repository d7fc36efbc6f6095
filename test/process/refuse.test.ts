import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../support/loopback.ts';
import { MAIN, startProcess } from '../support/process.ts';

/** How the process says that it will not start. */

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
  FINGERPRINT_APPLICATIONS: `[{"publicKey":"pk_1","secret":"${CANARY}","region":"GLB"}]`,
  FINGERPRINT_URL_GLB: 'http://127.0.0.1:9',
  CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"${CANARY}","region":"GLB"}]`,
  CAPTCHA_URL_GLB: 'http://127.0.0.1:9',
};

test('five mistakes are five sentences, without the secret that is among them', async () => {
  const { code, stdout, stderr } = await run({
    ...LIVE,
    PORT: '70000',
    FINGERPRINT_APPLICATIONS: `[{"publicKey":"pk_1","secret":"${CANARY} ","region":"GLB"}]`,
    FINGERPRINT_TIMEOUT_MS: '3s',
    CAPTCHA_URL_GLB: 'http://captcha.example',
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
    ['with addresses alone', { FINGERPRINT_URL_GLB: 'https://fp.example', CAPTCHA_URL_GLB: 'https://captcha.example' }],
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
  const SENTENCE = (what: string) => new RegExp(`^The subgraph cannot listen:\\n {2}[^\\n]*${what}[^\\n]*\\n$`);

  test('a port that is taken', async () => {
    const port = await takePort();
    const { code, stderr } = await run({ UPSTREAM_MODE: 'sandbox', ADMIN_PORT: '0', SANDBOX_PORT: '0', PORT: port });
    expect(code).toBe(1);
    expect(stderr).toMatch(SENTENCE(`EADDRINUSE.*:${port}`));
  });

  test("one of the sandbox's ports that is taken", async () => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({
      UPSTREAM_MODE: 'sandbox',
      ADMIN_PORT: '0',
      SANDBOX_PORT: port,
      PORT: '0',
    });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(SENTENCE(`EADDRINUSE.*:${port}`));
  });

  test('in live mode', async () => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({ ...LIVE, PORT: port });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(SENTENCE(`EADDRINUSE.*:${port}`));
  });

  test('a port of the metrics that is taken', async () => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({ ...LIVE, PORT: '0', ADMIN_PORT: port });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(SENTENCE(`EADDRINUSE.*:${port}`));
  });

  test('one port for both', async () => {
    // Whoever else may have it by then, the process cannot have it twice.
    const server = createServer();
    const port = String(await listen(server));
    await new Promise((resolve) => server.close(resolve));
    const { code, stdout, stderr } = await run({ ...LIVE, PORT: port, ADMIN_PORT: port });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(SENTENCE(`EADDRINUSE.*:${port}`));
  });

  test('an address of another machine', async () => {
    const { code, stderr } = await run({ ...LIVE, PORT: '0', HOST: '192.0.2.1' });
    expect(code).toBe(1);
    expect(stderr).toMatch(SENTENCE('EADDRNOTAVAIL.*192\\.0\\.2\\.1'));
  });
});

describe('the sandbox alone', () => {
  test.each(['65534', 'auto', '-1'])('SANDBOX_PORT=%s', async (port) => {
    const { code, stdout, stderr } = await run({ SANDBOX_PORT: port }, 'src/sandbox/main.ts');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^SANDBOX_PORT: expected a port from 0 to 65533[^\n]*\.\n$/);
  });

  test('a port that is taken is one sentence, without a stack', async () => {
    const port = await takePort();
    const { code, stdout, stderr } = await run({ SANDBOX_PORT: port }, 'src/sandbox/main.ts');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('EADDRINUSE');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
