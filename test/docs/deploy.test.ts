import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { LIMITS } from '../../src/callers/limits.ts';
import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { problemsOf } from '../config/support.ts';
import { startServing } from '../process/environments.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT, shell } from '../support/process.ts';
import { post } from '../support/requests.ts';
import { exportsOf, readPage } from './markdown.ts';

/** The tables and the commands of the operator's page. */

const page = readPage('deploy/README.md');
const app = await startInSandboxMode({ logLevel: 'debug', trustedHeaders: { subject: 'x-user-id' } });
afterAll(() => app.stop());

test('the tables of the configuration have every variable once, with its default', () => {
  const rows = [
    ...page.rowsOf('variable', 'what it is').map(([variable]) => [variable, 'none']),
    ...page.rowsOf('variable', 'default', 'what it decides'),
    ...page.rowsOf('variable', 'default', 'what it is'),
  ];
  const documented = rows.flatMap(([variable = '', value]) => {
    // A row can be about one variable for each region: `…_GLB`, `_NA`, `_EU`.
    const [first = '', ...suffixes] = [...variable.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    const names = [first, ...suffixes.map((suffix) => first.replace(/_[A-Z]+$/, suffix))];
    return names.map((name) => [name, value, variable.endsWith(' (secret)')]);
  });
  const variables = Object.values<Variable>(VARIABLES).map(({ name, secret, default: fallback }) => [
    name,
    fallback ? `\`${fallback}\`` : 'none',
    secret === true,
  ]);
  expect(documented.sort()).toEqual(variables.sort());
});

test.each(LIMITS)('the page about quotas has the limit $name', ({ name }) => {
  expect(page.text.split('## Quotas')[1]?.split('\n## ')[0]).toContain(name);
});

test('each example of a configuration is accepted', () => {
  const pages = [page, readPage('deploy/router/README.md')];
  const examples = pages.flatMap(({ blocks }) => blocks.filter(({ language }) => language === 'env'));
  expect(examples).not.toEqual([]);
  for (const { text } of examples) {
    const env = [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]);
    expect(env).not.toEqual([]);
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', ...Object.fromEntries(env) })).toEqual([]);
  }
});

test.each(page.rowsOf('path', 'answer'))('the table of health is right: %s answers %s', async (path = '', answer) => {
  const response = await fetch(app.url + path.replace(/^`GET (.*)`$/, '$1'));
  expect(`${response.status}`).toBe(answer?.slice(0, 3));
});

test('the example of a line of the log has every field of an operation, in the order in which it is written', async () => {
  const headers = {
    'x-user-id': 'user-1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    'apollographql-client-name': 'shop-web',
    'apollographql-client-version': '1.2.3',
  };
  const query = `query Login {
    failed: deviceFingerprint(token: "sandbox:error:500") { __typename }
    deviceFingerprint(token: "sandbox:web:ANTIDETECT_BROWSER,PSEUDO_BROWSER_ENV") { ... on DeviceFingerprint { decision { action } } }
  }`;
  await post(app.graphqlUrl, JSON.stringify({ query }), headers);
  const line =
    app
      .logged()
      .split('\n')
      .findLast((text) => text.includes('"Login"')) ?? '';
  const [level, time, ...fields] = Object.keys(JSON.parse(line));
  expect([level, time, fields.pop()]).toEqual(['level', 'time', 'msg']);
  const example = page.blocks.find(({ text }) => text.includes('"msg"'));
  expect(Object.keys(JSON.parse(example?.text ?? ''))).toEqual(['level', 'time', ...fields, 'msg']);
});

test('the configuration to try is accepted as it is, and each question is answered as the page shows', async (context) => {
  const env = Object.entries(exportsOf(page)).map(([name, value]) => [
    name,
    value.replace('http://127.0.0.1:4100', String(app.sandboxUrls?.GLB)),
  ]);
  const questions = page.blocks.flatMap(({ text }, index) =>
    text.startsWith('curl ') ? [{ text, answer: page.blocks[index + 1]?.text ?? '' }] : [],
  );
  const { graphqlUrl } = await startServing(context, { ...Object.fromEntries(env), PORT: '0' });
  expect(questions).toHaveLength(2);
  for (const { text, answer } of questions) {
    const secrets = `export ROUTER_SECRETS=${exportsOf(page)['ROUTER_SECRETS']},another-secret-of-the-router\n`;
    const answered = await shell(secrets + text.replace('http://127.0.0.1:4001/graphql', graphqlUrl));
    expect(JSON.parse(answered)).toEqual(JSON.parse(answer));
  }
});

test('the containers to try have the configuration of the page', () => {
  const { HOST: _, ...environment } = parse(readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8')).services.subgraph
    .environment;
  expect(environment).toEqual(exportsOf(page));
});
