import { afterAll, expect, test } from 'vitest';
import { problemsOf } from '../config/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT, shell, startCommand } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { type Block, exportsOf, readPage } from './markdown.ts';

/** The commands and snippets of the root README do what the page says. */

const page = readPage('README.md');
const app = await startInSandboxMode();
afterAll(() => app.stop());

const shown = page.blocks.flatMap((block, index) => {
  const next: Block | undefined = page.blocks[index + 1];
  return block.language === 'sh' && next?.language === 'json' ? [{ command: block.text, answer: next.text }] : [];
});

test.each(shown)('pasted into a shell this prints what the page shows: $command', async ({ command, answer }) => {
  // The app of this test listens on free ports.
  const here = command
    .replaceAll('http://127.0.0.1:4001', app.url)
    .replaceAll('http://127.0.0.1:4100', String(app.sandboxUrls?.GLB));
  expect(JSON.parse(await shell(here))).toEqual(JSON.parse(answer));
});

test('`npm run dev` starts the subgraph, and prints where it is and what to paste', async () => {
  const env = { PATH: process.env['PATH'], PORT: '0', ADMIN_PORT: '0', SANDBOX_PORT: '0' };
  // As a group of its own, because npm starts a shell, which starts Node, which starts another to restart.
  const { pid, waitFor, ended } = startCommand(['npm', 'run', 'dev'], { cwd: ROOT, detached: true, env });
  try {
    const [, url = ''] = await waitFor(/Device trust is at (\S+), [\s\S]*curl /);
    expect((await ask(url, '{ __typename }')).data).toEqual({ __typename: 'Query' });
  } finally {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    await ended;
  }
});

test('the live configuration is refused for each of its placeholders, and accepted once they are replaced', () => {
  const example = exportsOf(page);
  const refusal = (name: string, own: string) =>
    `${name}: expected ${own}, but got a placeholder from the documentation.`;
  expect(problemsOf(example)).toEqual([
    refusal('ROUTER_SECRETS', 'a secret of your own'),
    refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.publicKey'),
    refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.secret'),
    refusal('FINGERPRINT_URL_EU', 'an address of your own'),
    refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaId'),
    refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaKey'),
    refusal('CAPTCHA_URL_EU', 'an address of your own'),
  ]);
  // As long as what it replaces, because a captcha id has 32 characters.
  const own = (value: string) => value.replaceAll('change-me', 'my-own-as').replaceAll('.example', '.test');
  const replaced = Object.entries(example).map(([name, value]) => [name, own(value)]);
  expect(problemsOf(Object.fromEntries(replaced))).toEqual([]);
});
