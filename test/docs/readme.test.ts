import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import { parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { problemsOf } from '../config/support.ts';
import { sdlOf } from '../supergraph/compose.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT, shell, startCommand } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { type Block, commandsOf, readPage } from './markdown.ts';

/** What the root README says is true: its commands, its answers, its schema and its configuration. */

const page = readPage('README.md');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const app = await startInSandboxMode();
afterAll(() => app.stop());

/** A command of the page as it has to be written for the app of this test, which listens on free ports. */
function onFreePorts(command: string): string {
  return command
    .replaceAll('http://127.0.0.1:4001', app.url)
    .replaceAll('http://127.0.0.1:4100', String(app.sandboxUrls?.GLB));
}

/** The first one is tried below; what the second one builds and starts is tested in `test/process`. */
const STARTED = ['npm ci && npm run dev', 'npm start'];
/** These need GraphOS or the supergraphs of others. */
const NEEDS_A_NETWORK = /^npx -y @apollo\/rover@/;

test('it has at most 200 lines', () => {
  expect(page.text.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
});

describe('commands', () => {
  const shown = page.blocks.flatMap((block, index) => {
    const next: Block | undefined = page.blocks[index + 1];
    return block.language === 'sh' && next?.language === 'json' ? [{ command: block.text, answer: next.text }] : [];
  });

  test('there is one for each question of the graph', () => {
    expect(shown.map(({ answer }) => Object.keys(JSON.parse(answer).data))).toEqual([
      ['deviceFingerprint'],
      ['validateCaptcha'],
    ]);
  });

  test.each(shown)('pasted into a shell this prints what the page shows: $command', async ({ command, answer }) => {
    expect(JSON.parse(await shell(onFreePorts(command)))).toEqual(JSON.parse(answer));
  });

  test('every other one starts the server, or needs a network', () => {
    const others = commandsOf(page).filter(
      (command) =>
        !shown.some((block) => block.command.includes(command)) &&
        !STARTED.includes(command) &&
        !NEEDS_A_NETWORK.test(command),
    );
    expect(others).toEqual([]);
  });

  test('`npm run dev` starts the subgraph, and prints where it is and what to paste', async () => {
    const env = { PATH: process.env['PATH'], PORT: '0', ADMIN_PORT: '0', SANDBOX_PORT: '0' };
    // As a group of its own, because npm starts a shell, which starts Node, which starts another to restart.
    const { pid, waitFor, ended } = startCommand(['npm', 'run', 'dev'], { cwd: ROOT, detached: true, env });
    try {
      const [, url = ''] = await waitFor(/Device trust is at (\S+), [\s\S]*curl /);
      const { data } = await ask(url, '{ __typename }');
      expect(data).toEqual({ __typename: 'Query' });
    } finally {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      await ended;
    }
  }, 30_000);

  test.each(page.rowsOf('command', 'what it does').map(([command = '']) => command))('%s is a script', (command) => {
    expect(scripts).toHaveProperty([command.replaceAll('`', '').replace(/^npm (run )?/, '')]);
  });

  test('rover is the one that `npm run test:rover` tries', () => {
    const versions = page.text.match(/@apollo\/rover@[\d.]+\d/g);
    const tried = /@apollo\/rover@[\d.]+\d/.exec(readFileSync(join(ROOT, 'test/supergraph/rover.all.test.ts'), 'utf8'));
    expect(new Set(versions)).toEqual(new Set(tried));
  });
});

describe('the schema of an order subgraph', () => {
  const [snippet, ...others] = page.blocks.filter(({ language }) => language === 'graphql');
  const compositionWith = async (text: string) => [
    { name: 'device-trust', url: app.graphqlUrl, typeDefs: parse(await sdlOf(app.graphqlUrl)) },
    { name: 'orders', url: 'http://127.0.0.1:9', typeDefs: parse(text) },
  ];

  test('is the only one', () => {
    expect(others).toEqual([]);
  });

  test('composes with ours as it is, by @apollo/composition', async () => {
    const { errors, hints, supergraphSdl } = apollo.composeServices(await compositionWith(snippet?.text ?? ''));
    expect(errors).toBeUndefined();
    expect(hints?.map(({ message }) => message)).toEqual([]);
    expect(supergraphSdl).toMatch(/type Order\b[^}]*judgement: DeviceJudgement/);
  });

  test('composes with ours as it is, by @theguild/federation-composition, and a variant without `risk` has no judgement', async () => {
    const services = await compositionWith(snippet?.text ?? '');
    const { errors, publicSdl } = guild.composeServices(services);
    expect(errors).toBeUndefined();
    expect(publicSdl).toMatch(/type Order \{[^}]*judgement: DeviceJudgement/);
    expect(publicSdl).toMatch(/type Device \{[^}]*orders/);
    const tags = { exclude: new Set(['risk']), include: new Set<string>() };
    const variant = guild.composeSchemaContract(services, tags, true);
    expect(variant.errors).toBeUndefined();
    expect(variant.publicSdl).toContain('type DeviceFingerprint {');
    expect(variant.publicSdl).not.toMatch(/DeviceJudgement|^ +(judgement|sealed)\b/m);
  });

  test.each(['@key', '@tag'])('does not compose without the import of %s', async (directive) => {
    const imports = /import: (\[.*?\])/.exec(snippet?.text ?? '')?.[1] ?? '';
    const others = JSON.parse(imports).filter((name: string) => name !== directive);
    const text = snippet?.text.replace(imports, JSON.stringify(others)) ?? '';
    const { errors, supergraphSdl } = apollo.composeServices(await compositionWith(text));
    expect(errors?.map(({ message }) => message).join('\n')).toContain(`Unknown directive "${directive}"`);
    expect(supergraphSdl).toBeUndefined();
  });
});

test('the verification is that of the order subgraph, which is one screen', () => {
  const snippets = page.blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  const file = readFileSync(join(ROOT, 'test/supergraph/orders/attestation.ts'), 'utf8');
  expect(snippets).toHaveLength(1);
  expect(file.replace(/^ {2}/gm, '')).toContain(snippets[0]);
  expect(file.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
});

describe('the live configuration', () => {
  const block = page.blocks.find(({ language, text }) => language === 'sh' && text.includes('export '))?.text ?? '';
  const example: Readonly<Record<string, string>> = Object.fromEntries(
    [...block.matchAll(/^export (\w+)='?([^'\n]+)'?$/gm)].map(([, name, value]) => [name, value]),
  );
  test('is refused as it stands, for each of its placeholders and for nothing else', () => {
    const refusal = (name: string, own: string) =>
      `${name}: expected ${own}, but got the placeholder of the documentation.`;
    expect(problemsOf(example)).toEqual([
      refusal('ROUTER_SECRETS', 'a secret of your own'),
      refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.publicKey'),
      refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.secret'),
      refusal('FINGERPRINT_URL_EU', 'an address of your own'),
      refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaId'),
      refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaKey'),
      refusal('CAPTCHA_URL_EU', 'an address of your own'),
    ]);
  });

  test('is accepted once each placeholder is replaced', () => {
    // As long as what it replaces, because a captcha id has 32 characters.
    const replaced = Object.entries(example).map(([name, value]) => [
      name,
      value.replaceAll('change-me', 'my-own-as').replaceAll('.example', '.test'),
    ]);
    expect(problemsOf(Object.fromEntries(replaced))).toEqual([]);
  });

  test('`openssl rand -hex 32` prints a router secret that is accepted', async () => {
    const secret = (await shell('openssl rand -hex 32')).trim();
    const problems = problemsOf({ ...example, ROUTER_SECRETS: secret });
    expect(problems.filter((problem) => problem.startsWith('ROUTER_SECRETS'))).toEqual([]);
  });
});
