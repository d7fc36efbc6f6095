import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { readPage } from '../docs/markdown.ts';
import { freePort } from '../support/ports.ts';
import { ROOT, shell } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import { json, request } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { configureNginx, environmentOf, startInstance, startNginx, UNIT, unit } from './vm.ts';

/**
 * The files of `deploy/vm/`: systemd reads the unit, and two replicas of the release's archive run behind the shipped block of
 * nginx. `rotation.all.test.ts` restarts them under load.
 */

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'device-trust-vm-'));
const checkout = join(folder, 'checkout');
const ARCHIVE = join(checkout, 'dist/device-trust-subgraph-*.tar.gz');
const sandbox = await startSandbox({ port: 0 });
const open: { stop(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all([...open.map((child) => child.stop()), sandbox.stop()]);
  await rm(folder, { recursive: true });
});

const ROUTER_SECRET = 'a-secret-of-the-router';
const HEADERS = { 'router-authorization': ROUTER_SECRET };
const JUDGE =
  'query ($token: String!) { deviceFingerprint(token: $token) { ... on DeviceFingerprint { signals { code } } } }';
const CREDENTIALS = {
  'fingerprint-applications': JSON.stringify(SANDBOX_APPLICATIONS.slice(0, 1)),
  'captcha-configurations': JSON.stringify(SANDBOX_CAPTCHAS.slice(0, 1)),
  'router-secrets': ROUTER_SECRET,
  'log-hash-key': 'a-key-for-hashes-of-people',
};

beforeAll(async () => {
  // A checkout that only its owner can read. The build is there: `npm run archive` would replace it while other tests use it.
  const packed = ['LICENSE', 'package.json', 'schema', 'deploy', 'dist/server'].join(' ');
  await shell(`umask 077 && mkdir ${checkout} && cp -r --parents ${packed} ${checkout}`);
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  await shell(`chmod 755 ${folder} && chown -R 1234:1234 ${checkout}`);
  const packer = 'setpriv --reuid 1234 --regid 1234 --clear-groups';
  await shell(`cd ${checkout} && umask 077 && HOME=${checkout} ${packer} sh deploy/archive.sh`);
  await shell(`tar -xzf ${ARCHIVE} -C ${folder} --strip-components 1`);
  await mkdir(join(folder, 'credentials'));
  for (const [name, text] of Object.entries(CREDENTIALS)) await writeFile(join(folder, 'credentials', name), text);
});

/** A replica as the unit starts it, from the archive alone. */
async function start(instance: number, ports: Readonly<Record<string, string>>) {
  const { GLB: url } = sandbox.urls;
  const addresses = { FINGERPRINT_URL_GLB: url, CAPTCHA_URL_GLB: url };
  const child = startInstance(folder, { ...environmentOf(unit, instance, folder), ...addresses, ...ports });
  open.push(child);
  await child.waitFor(/"msg":"ready"/);
  return child;
}

test('systemd finds no mistake in the unit, and little that the process could do to its machine', async () => {
  const verified = await run(programOf('systemd-analyze', 'apt-get install -y systemd'), ['verify', '--man=no', UNIT]);
  expect(verified).toEqual({ stdout: '', stderr: '' });
  // From 0 to 100; a unit without these settings has 96.
  await run(programOf('systemd-analyze'), ['security', '--offline=yes', '--threshold=15', UNIT]);
});

test('systemd reads the keys that the archive prints, and the configuration of the page, as it is', async () => {
  const example = readPage('deploy/vm/README.md').blocks.find(({ language }) => language === 'ini')?.text;
  const text = `${await shell(`node ${folder}/dist/server/generate-keys.js --env`)}${example}`;
  await mkdir(join(folder, 'environment.d'));
  await writeFile(join(folder, 'environment.d/device-trust.conf'), text);
  // It reads such files with the parser of EnvironmentFile=, and prints them for a shell.
  const generator = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator';
  const read = await shell(`env -i XDG_CONFIG_HOME=${folder} bash -c 'set -a; eval "$(${generator})"; env'`);
  const lines = text.split('\n').filter((line) => /^[^#]/.test(line));
  expect(lines).toHaveLength(6);
  expect(read.split('\n')).toEqual(expect.arrayContaining(lines));
});

test('everything in the archive belongs to root and can be read by everybody, whoever packs it', async () => {
  const lines = (await shell(`tar -tvzf ${ARCHIVE}`)).trim().split('\n');
  expect(new Set(lines.map((line) => line.split(' ', 2).join(' ')))).toEqual(
    new Set(['drwxr-xr-x root/root', '-rw-r--r-- root/root']),
  );
});

test('the archive explains the risk policy', async () => {
  const explained = await shell(`node ${folder}/dist/server/explain-policy.js built-in EMULATOR IOS`);
  expect(explained).toMatch(/^EMULATOR IOS: CHALLENGE by serious/);
});

test('the links of the page about a VM lead to files of the archive', () => {
  const page = join(folder, 'deploy/vm/README.md');
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https:)([^)#]+)/g)].map(([, link = '']) => link);
  expect(links).toContain('../README.md');
  expect(links.filter((link) => !existsSync(join(page, '..', link)))).toEqual([]);
});

test('the time for a stop is what the process needs at most', () => {
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(seconds) * 1_000).toBeGreaterThan(Number(environmentOf(unit, 1, folder)['SHUTDOWN_GRACE_MS']) + 10_000);
});

test('journald drops no line of the log', () => {
  // systemd.exec(5), journald.conf(5): the limit is 10,000 lines in 30 s, and 0 turns it off.
  expect(unit).toMatch(/^LogRateLimitIntervalSec=0$/m);
});

test('the commands that start the replicas work whether nginx runs already or not', async () => {
  // Nobody listens on port 9.
  const { url, command } = await configureNginx(folder, [9, 9]);
  // nginx takes a variable of its name for the sockets of one that it replaces, and then makes no daemon.
  const nginx = ['env', '-u', 'NGINX', ...command].join(' ');
  // systemd cannot run here, so a command of its name does what it does with nginx.
  const systemctl = `case "$*" in *--now*nginx) [ -e ${folder}/nginx.pid ] || nginx ;; 'reload nginx') nginx -s reload ;; esac`;
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/nginx'), `#!/bin/sh\nexec ${nginx} "$@"\n`, { mode: 0o755 });
  await writeFile(join(folder, 'bin/systemctl'), `#!/bin/sh\n${systemctl}\n`, { mode: 0o755 });
  const start = readPage('deploy/vm/README.md').blocks.find(({ text }) => text.includes('enable --now'))?.text;
  onTestFinished(async () => void (await shell(`${nginx} -s stop`)));
  for (const _ of ['it does not', 'it does']) {
    await shell(`PATH=${folder}/bin:$PATH; ${start}`);
    await expect.poll(() => fetch(url).then(({ status }) => status, String)).toBe(502);
  }
});

test('the block of nginx never sends a request twice', async () => {
  const [first, second, ...adminPorts] = await Promise.all(times(4, freePort));
  const [dying] = await Promise.all(
    [first, second].map((port, at) => start(at + 1, { PORT: `${port}`, ADMIN_PORT: `${adminPorts[at]}` })),
  );
  const nginx = await startNginx(folder, [first, second]);
  open.push(nginx);
  /** The signals of a device; else what the client got in their place. */
  const judge = async (token: string) => {
    const { status, text } = await request(
      nginx.url,
      json(JSON.stringify({ query: JUDGE, variables: { token } }), HEADERS),
    );
    return status === 200 ? (JSON.parse(text).data?.deviceFingerprint?.signals ?? text) : status;
  };
  // Each replica has a call under way when one dies: its caller gets an error, although the other replica could answer.
  const held = times(2, () => judge('sandbox:delay:2000:ios'));
  const inFlight = async () => {
    const pages = adminPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    return (await Promise.all(pages)).map(
      (text) => /^device_trust_upstream_in_flight\{.*fingerprint.*\} (\d+)$/m.exec(text)?.[1],
    );
  };
  await expect.poll(inFlight, { interval: 10 }).toEqual(['1', '1']);
  await dying?.end('SIGKILL');
  expect((await Promise.all(held)).sort()).toEqual([502, []].sort());
});
