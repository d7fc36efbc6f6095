import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from '../support/ports.ts';
import { ROOT, startCommand, type TestProcess } from '../support/process.ts';
import { programOf } from '../support/programs.ts';

/** The files of `deploy/vm/` as systemd and nginx use them. */

export const UNIT = join(ROOT, 'deploy/vm/device-trust@.service');
export const unit = await readFile(UNIT, 'utf8');

/** What systemd gives to an instance of a unit, whose credentials are files in the folder `credentials` of this one. */
export function environmentOf(text: string, instance: number, folder: string): Record<string, string> {
  const lines = [...text.matchAll(/^Environment=(.*)$/gm)].map(([, line = '']) => line);
  const specifiers = { i: `${instance}`, d: join(folder, 'credentials'), C: join(folder, 'cache') };
  const value = (one: string) => one.replace(/%([idC])/g, (_, name: keyof typeof specifiers) => specifiers[name]);
  return Object.fromEntries(lines.flatMap((line) => line.split(' ')).map((pair) => value(pair).split(/=(.*)/s)));
}

/** Starts what the unit starts. Other tests make a process late for no fault of its own. */
export function startInstance(cwd: string, env: Readonly<Record<string, string>>): TestProcess {
  const [, command = ''] = /^ExecStart=node (.*)$/m.exec(unit) ?? [];
  return startCommand([process.execPath, ...command.split(' ')], { cwd, env });
}

/** Gives nginx the shipped block in this folder, but on a free port, and for replicas at these ports. The command makes a daemon. */
export async function configureNginx(folder: string, [first, second]: readonly (number | undefined)[]) {
  let block = await readFile(join(ROOT, 'deploy/vm/nginx.conf'), 'utf8');
  const own = await freePort();
  for (const [from, to] of [
    ['listen 4001', `listen 127.0.0.1:${own}`],
    ['listen [::]:4001', `listen [::1]:${own}`],
    [':4011', `:${first}`],
    [':4012', `:${second}`],
  ] as const) {
    expect(block).toContain(from);
    block = block.replace(from, to);
  }
  // Debian's build writes below /var, where an nginx that was only unpacked has no folders.
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const http = ['access_log off;', ...folders, block].join('\n');
  await writeFile(join(folder, 'nginx.conf'), `pid nginx.pid;\nevents {}\nhttp {\n${http}\n}\n`);
  const program = programOf('nginx', 'apt-get install -y nginx-light');
  const command = [program, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  return { url: `http://127.0.0.1:${own}/graphql`, command };
}

/** Starts nginx with the shipped block for replicas at these ports, and waits for their answers. */
export async function startNginx(folder: string, ports: readonly (number | undefined)[]) {
  const { url, command } = await configureNginx(folder, ports);
  const nginx = startCommand([...command, '-g', 'daemon off;'], { cwd: folder, env: {} });
  await expect.poll(() => fetch(url).then(({ status }) => status, String)).toBe(405);
  // A signal that lets it end its workers.
  return { url, stop: async () => void (await nginx.end('SIGTERM')) };
}
