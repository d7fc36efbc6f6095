import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { Context } from '../process/environments.ts';
import { listen } from '../support/loopback.ts';
import { PATIENT, ROOT, startCommand, startProcess } from '../support/process.ts';
import { ask, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';

/** What runs from the sources alone: the sandbox as a program of its own (`npm run sandbox`), and `npm run dev`. */

const SCRIPT = 'src/start-sandbox.ts';

function startDev(words: readonly string[], PORT = '0') {
  const env = { ...PATIENT, PATH: process.env['PATH'], PORT, ADMIN_PORT: '0', SANDBOX_PORT: '0' };
  return startCommand(['npm', 'run', '--silent', 'dev', ...words], { cwd: ROOT, env });
}

async function takePort({ onTestFinished }: Context): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  return listen(server);
}

test.concurrent('the sandbox starts where HOST says, serves each region, and ends at a signal', async (context) => {
  const child = await untilEnd(startProcess(SCRIPT, { HOST: '127.0.0.2', SANDBOX_PORT: '0' }), context);
  await child.waitFor(/EU: \S+\n/);
  const urls = [...child.stdout().matchAll(/^Sandbox of region (GLB|NA|EU): (http:\/\/127\.0\.0\.2:\d+)$/gm)];
  expect(urls.map(([, region]) => region)).toEqual(['GLB', 'NA', 'EU']);
  for (const [, , url = ''] of urls) expect((await fetch(url)).status).toBe(404);
  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
});

test.concurrent('what is wrong with the environment of the sandbox is a sentence, without a stack', async (context) => {
  const taken = await takePort(context);
  const stderrWith = async (env: Readonly<Record<string, string>>) => {
    const child = await untilEnd(startProcess(SCRIPT, env), context);
    expect([await child.ended, child.stdout()]).toEqual([1, '']);
    return child.stderr().trimEnd().split('\n');
  };
  const [ofPort, ofTaken, ofName] = await Promise.all(
    [{ SANDBOX_PORT: '65534' }, { SANDBOX_PORT: `${taken}` }, { SANDBOX_PROT: '0' }].map(stderrWith),
  );
  expect(ofPort).toEqual(['SANDBOX_PORT: expected a port from 0 to 65533, but got "65534".']);
  expect(ofTaken).toEqual([`SANDBOX_PORT: expected three free ports from this one on, but ${taken} is taken.`]);
  expect(ofName).toEqual(['SANDBOX_PROT: there is no such variable. Did you mean SANDBOX_PORT?']);
});

test('`npm run dev` on a port that is taken ends with 1 and a sentence that names its variable, and waits for no change', async (context) => {
  const PORT = `${await takePort(context)}`;
  const child = await untilEnd(startDev([], PORT));
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  expect(child.stderr()).toContain(
    `The subgraph cannot listen:\n  PORT: expected a free port, but ${PORT} is taken.\n`,
  );
});

test.for<[string, string[], string[] | undefined]>([
  ['fingerprint', ['deviceFingerprint', 'signalCatalogue'], undefined],
  ['captcha', [], ['validateCaptcha']],
])('`npm run dev -- %s` starts this service alone', async ([name, queries, mutations]) => {
  const child = await untilEnd(startDev(['--', name]));
  const [, url = ''] = await child.waitFor(/Device trust is at (\S+),/);
  const { data } = await ask(url, '{ __schema { queryType { fields { name } } mutationType { fields { name } } } }');
  const namesOf = (type: { fields: { name: string }[] } | null) =>
    type?.fields.map((field) => field.name).filter((field) => !field.startsWith('_'));
  const { queryType, mutationType } = data.__schema;
  expect([namesOf(queryType), namesOf(mutationType)]).toEqual([queries, mutations]);
  await child.waitFor(/ready/);
  const page = await request(url, { headers: { accept: 'text/html' } });
  for (const text of [page.text, child.stdout()]) {
    expect(text.includes('deviceFingerprint(')).toBe(name === 'fingerprint');
    expect(text.includes('validateCaptcha(')).toBe(name === 'captcha');
  }
  expect(await child.end('SIGINT')).not.toBe(1);
});
