import { afterAll, expect, test } from 'vitest';
import { problemsOf } from '../config/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { shell } from '../support/process.ts';
import { type Block, exportsOf, readPage } from './markdown.ts';

/** The commands and snippets of the root README do what the page says. */

const page = readPage('README.md');
const app = await startInSandboxMode();
afterAll(() => app.stop());

const shown = page.blocks.flatMap((block, index) => {
  const next: Block | undefined = page.blocks[index + 1];
  return block.language === 'sh' && next?.language === 'json' ? [{ command: block.text, answer: next.text }] : [];
});

test.each(shown)('a command of README.md prints what the page shows: $command', async ({ command, answer }) => {
  // The app of this test listens on free ports.
  const here = command
    .replaceAll('http://127.0.0.1:4001', app.url)
    .replaceAll('http://127.0.0.1:4100', String(app.sandboxUrls?.GLB));
  expect(JSON.parse(await shell(here))).toEqual(JSON.parse(answer));
});

test('the live configuration is refused for each of its placeholders, and accepted once they are replaced', () => {
  const example = exportsOf(page);
  expect(problemsOf(example)).toEqual(Array(7).fill(expect.stringContaining('but got a placeholder')));
  // As long as what it replaces, because a captcha id has 32 characters.
  const own = (value: string) => value.replaceAll('change-me', 'my-own-as').replaceAll('.example', '.test');
  const replaced = Object.entries(example).map(([name, value]) => [name, own(value)]);
  expect(problemsOf(Object.fromEntries(replaced))).toEqual([]);
});
