import { afterAll, expect, test } from 'vitest';
import { VARIABLES, type Variable } from '../../src/config/variables.ts';
import { problemsOf } from '../config/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { shell, startProcess } from '../support/process.ts';
import { post } from '../support/requests.ts';
import { exportsOf, readPage } from './markdown.ts';

/** The tables and the commands of the operator's page; `test/deploy/monitoring.test.ts` has that of the metrics. */

const page = readPage('deploy/README.md');
const app = await startInSandboxMode({ logLevel: 'debug' });
afterAll(() => app.stop());

test('the table of the configuration has every variable, with its default and what is expected', () => {
  const variables = Object.values<Variable>(VARIABLES);
  expect(page.rowsOf('variable', 'default', 'what it is', 'expected')).toEqual(
    variables.map(({ name, secret, default: fallback, expected }) => [
      `\`${name}\`${secret ? ' (secret)' : ''}`,
      fallback ? `\`${fallback}\`` : 'none',
      expect.stringMatching(/./),
      expected,
    ]),
  );
});

test('each example of a configuration is accepted', () => {
  const pages = [page, readPage('deploy/router/README.md')];
  const examples = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'env'));
  expect(examples).not.toEqual([]);
  for (const { text } of examples) {
    const env = Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s)));
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ...env })).toEqual([]);
  }
});

test.each(page.rowsOf('path', 'answer'))('%s answers %s', async (path = '', answer) => {
  const response = await fetch(app.url + path.replace(/^`GET (.*)`$/, '$1'));
  expect(`${response.status}`).toBe(answer?.slice(0, 3));
});

test('the table of the log has every field of the line of an operation, in the order in which it is written', async () => {
  // Only the line of a good operation has a sample, and this one fails.
  const documented = page.rowsOf('field', 'what it is').flatMap(([field]) => (field === '`sample`' ? [] : [field]));
  const headers = {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'apollographql-client-name': 'shop-web',
    'apollographql-client-version': '1.2.3',
  };
  const query = 'query Login { deviceFingerprint(token: "sandbox:error:500") { __typename } }';
  await post(app.graphqlUrl, JSON.stringify({ query }), headers);
  const line =
    app
      .logged()
      .split('\n')
      .findLast((text) => text.includes('"Login"')) ?? '';
  const [level, time, ...fields] = Object.keys(JSON.parse(line));
  expect([level, time, fields.pop()]).toEqual(['level', 'time', 'msg']);
  expect(documented).toEqual(fields.map((field) => `\`${field}\``));
  const [example] = page.blocks.filter(({ language }) => language === 'json');
  expect(Object.keys(JSON.parse(example?.text ?? ''))).toEqual(['level', 'time', ...fields, 'msg']);
});

test('the configuration to try is accepted as it is, and the query is answered as the page shows', async () => {
  const env = Object.entries(exportsOf(page)).map(([name, value]) => [
    name,
    value.replace('http://127.0.0.1:4100', String(app.sandboxUrls?.GLB)),
  ]);
  const question = page.blocks.findIndex(({ text }) => text.startsWith('curl '));
  const [query = '', answer = ''] = page.blocks.slice(question, question + 2).map(({ text }) => text);
  const child = startProcess('src/main.ts', { ...Object.fromEntries(env), PORT: '0' });
  try {
    const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/);
    const answered = await shell(query.replace('http://127.0.0.1:4001/graphql', url));
    expect(JSON.parse(answered)).toEqual(JSON.parse(answer));
  } finally {
    await child.stop();
  }
});
