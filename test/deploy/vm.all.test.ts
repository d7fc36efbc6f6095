import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { readPage } from '../docs/markdown.ts';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { freePort } from '../support/ports.ts';
import { ROOT, shell, startCommand, type TestProcess } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import { json, request } from '../support/requests.ts';
import { times } from '../support/times.ts';

/** The files of `deploy/vm/`: systemd reads the unit, and two replicas of the release's archive restart behind the shipped block of nginx. */

const run = promisify(execFile);
const UNIT = 'device-trust@.service';
const unit = await readFile(join(ROOT, 'deploy/vm', UNIT), 'utf8');
const folder = await mkdtemp(join(tmpdir(), 'device-trust-vm-'));
const sandbox = await startSandbox({ port: 0 });
const open: TestProcess[] = [];
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
  // The build is there: without `prearchive`, which would replace it while other tests use it.
  await shell('npm run --silent archive --ignore-scripts');
  await shell(`tar -xzf dist/device-trust-subgraph-*.tar.gz -C ${folder} --strip-components 1`);
  await mkdir(join(folder, 'credentials'));
  for (const [name, text] of Object.entries(CREDENTIALS)) await writeFile(join(folder, 'credentials', name), text);
});

/** What systemd gives to an instance. */
function environmentOf(instance: number): Record<string, string> {
  const lines = [...unit.matchAll(/^Environment=(.*)$/gm)].map(([, line = '']) => line);
  const specifiers = { i: `${instance}`, d: join(folder, 'credentials'), C: join(folder, 'cache') };
  const value = (text: string) => text.replace(/%([idC])/g, (_, name: keyof typeof specifiers) => specifiers[name]);
  return Object.fromEntries(lines.flatMap((line) => line.split(' ')).map((pair) => value(pair).split(/=(.*)/s)));
}

/** A replica as the unit starts it, from the archive alone. */
async function start(instance: number, ports: Readonly<Record<string, string>>) {
  const [, command = ''] = /^ExecStart=node (.*)$/m.exec(unit) ?? [];
  const { GLB: url } = sandbox.urls;
  const addresses = { FINGERPRINT_URL_GLB: url, CAPTCHA_URL_GLB: url };
  const env = { ...environmentOf(instance), ...addresses, ...ports, TEST_MAX_DELAY_MS: '10000' };
  const child = startCommand([process.execPath, ...command.split(' ')], { cwd: folder, env });
  open.push(child);
  await child.waitFor(/"msg":"ready"/);
  return child;
}

/** nginx with the shipped block, in which other ports are put. */
async function startNginx(ports: Readonly<Record<string, string>>): Promise<string> {
  let block = await readFile(join(ROOT, 'deploy/vm/nginx.conf'), 'utf8');
  for (const [from, to] of Object.entries(ports)) {
    expect(block).toContain(from);
    block = block.replace(from, to);
  }
  // Debian's build writes below /var, where an nginx that was only unpacked has no folders.
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const http = ['access_log off;', ...own, block].join('\n');
  await writeFile(join(folder, 'nginx.conf'), `pid nginx.pid;\nevents {}\nhttp {\n${http}\n}\n`);
  const program = programOf('nginx', 'apt-get install -y nginx-light');
  const words = ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf'), '-g', 'daemon off;'];
  const nginx = startCommand([program, ...words], { cwd: folder, env: {} });
  // A signal that lets it end its workers.
  open.push({ ...nginx, stop: async () => void (await nginx.end('SIGTERM')) });
  const url = `http://${/listen (\S+);/.exec(block)?.[1]}/graphql`;
  await expect.poll(() => fetch(url).then(({ status }) => status, String)).toBe(405);
  return url;
}

test('systemd finds no mistake in the unit, and little that the process could do to its machine', async () => {
  const path = join(ROOT, 'deploy/vm', UNIT);
  const verified = await run(programOf('systemd-analyze', 'apt-get install -y systemd'), ['verify', '--man=no', path]);
  expect(verified).toEqual({ stdout: '', stderr: '' });
  // From 0 to 100; a unit without these settings has 96.
  await run(programOf('systemd-analyze'), ['security', '--offline=yes', '--threshold=15', path]);
});

test('systemd reads what `npm run keys -- --env` prints, and the configuration of the page, as it is', async () => {
  const example = readPage('deploy/vm/README.md').blocks.find(({ language }) => language === 'ini')?.text;
  const text = `${await shell('npm run --silent keys -- --env')}${example}`;
  await mkdir(join(folder, 'environment.d'));
  await writeFile(join(folder, 'environment.d/device-trust.conf'), text);
  // It reads such files with the parser of EnvironmentFile=, and prints them for a shell.
  const generator = '/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator';
  const read = await shell(`env -i XDG_CONFIG_HOME=${folder} bash -c 'set -a; eval "$(${generator})"; env'`);
  const lines = text.split('\n').filter((line) => /^[^#]/.test(line));
  expect(lines).toHaveLength(6);
  expect(read.split('\n')).toEqual(expect.arrayContaining(lines));
});

test('the links of its page lead to files of the archive', () => {
  const page = join(folder, 'deploy/vm/README.md');
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!https:)([^)#]+)/g)].map(([, link = '']) => link);
  expect(links).toContain('../README.md');
  expect(links.filter((link) => !existsSync(join(page, '..', link)))).toEqual([]);
});

test('the time for a stop is what the process needs at most', () => {
  const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
  expect(Number(seconds) * 1_000).toBeGreaterThan(Number(environmentOf(1)['SHUTDOWN_GRACE_MS']) + 10_000);
});

test('the block of nginx loses no request in a rolling restart, and never sends one twice', async () => {
  const ports = await Promise.all(times(5, freePort));
  const [first, second, own, ...adminPorts] = ports.map(String);
  const startAgain = (at: number) => start(at + 1, { PORT: `${[first, second][at]}`, ADMIN_PORT: `${adminPorts[at]}` });
  const replicas = await Promise.all([0, 1].map(startAgain));
  const url = await startNginx({
    'listen 4001': `listen 127.0.0.1:${own}`,
    ':4011': `:${first}`,
    ':4012': `:${second}`,
  });
  /** The signals of a device; else what the client got in their place. A second query of a token has TOKEN_EXPIRED. */
  const judge = async (token: string) => {
    const { status, text } = await request(url, json(JSON.stringify({ query: JUDGE, variables: { token } }), HEADERS));
    return status === 200 ? (JSON.parse(text).data?.deviceFingerprint?.signals ?? text) : status;
  };
  /** A captcha passes once. */
  const verify = async () => {
    const variables = { input: await solveChallenge(sandbox.urls.GLB) };
    return (await request(url, json(JSON.stringify({ query: CAPTCHA_MUTATION, variables }), HEADERS))).text;
  };

  let [answered, isOver] = [0, false];
  const lost: unknown[] = [];
  const load = times(8, async (worker) => {
    for (let turn = 0; !isOver; turn += 1) {
      const [signals, verified] = [await judge(`sandbox:once:ios#${worker}-${turn}`), await verify()];
      if (JSON.stringify(signals) !== '[]') lost.push(signals);
      if (!verified.includes('CaptchaPassed')) lost.push(verified);
      answered += 2;
    }
  });
  const moreLoad = async () => {
    const enough = answered + 500;
    await expect.poll(() => answered).toBeGreaterThan(enough);
  };
  await moreLoad();
  // As `systemctl restart` does it.
  for (const [at, old] of replicas.entries()) {
    expect(await old.end('SIGTERM')).toBe(0);
    replicas[at] = await startAgain(at);
    await moreLoad();
  }
  isOver = true;
  await Promise.all(load);
  expect(lost).toEqual([]);

  // Each replica has a call under way when one dies: its caller gets an error, although the other replica could answer.
  const held = times(2, () => judge('sandbox:delay:2000:ios'));
  const inFlight = async () => {
    const pages = adminPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
    return (await Promise.all(pages)).map(
      (text) => /^device_trust_upstream_in_flight\{.*fingerprint.*\} (\d+)$/m.exec(text)?.[1],
    );
  };
  await expect.poll(inFlight, { interval: 10 }).toEqual(['1', '1']);
  await replicas[0]?.end('SIGKILL');
  expect((await Promise.all(held)).sort()).toEqual([502, []].sort());
});
