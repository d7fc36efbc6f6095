import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT, scriptOf } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { LIVE, startServing } from './environments.ts';

/** A company's plugin of Apollo Server, as src/README.md says, without a fork. */

const PLUGINS = join(ROOT, scriptOf('plugins'));

/** Prints a line for each operation and each response. */
const COUNTER = `
  import { plugins } from ${JSON.stringify(PLUGINS)};
  let operations = 0;
  plugins.push({
    requestDidStart: async () => {
      operations += 1;
      console.log('operations: ' + operations);
      return { willSendResponse: async ({ response: { body } }) => console.log(JSON.stringify(body.singleResult)) };
    },
  });
`;

test('a plugin that a module adds before the start counts every operation, also those that are known or refused', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'plugins-'));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'plugins.mjs');
  await writeFile(file, COUNTER);
  const { child, graphqlUrl } = await startServing(context, { ...LIVE, NODE_OPTIONS: `--import=${file}` });
  const queries = ['{ __typename }', '{ __typename }', '{ nothing }', '{ nothing }', '\n'.repeat(2_000), '{'];
  const answers = [];
  for (const query of queries) answers.push((await ask(graphqlUrl, query)).text);
  await child.waitFor(new RegExp(`operations: ${queries.length}\n`));
  // It sees what is sent, apart from what is refused before it is parsed.
  for (const [at, text] of answers.entries()) expect(child.stdout().includes(`${text}\n`)).toBe(at !== 4);
});

test('a process does not start without the module that its plugins are in', async (context) => {
  const started = startServing(context, { ...LIVE, NODE_OPTIONS: '--import=/nowhere/plugins.mjs' });
  await expect(started).rejects.toThrow('/nowhere/plugins.mjs');
});
