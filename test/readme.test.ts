import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { accountsOf } from '../src/config/accounts.ts';
import { parseConfig } from '../src/config/parser.ts';
import type { Variable } from '../src/config/values.ts';
import { VARIABLES } from '../src/config/variables.ts';
import { ERROR_CATALOGUE } from '../src/errors.ts';
import { problemsOf } from './config/support.ts';
import { readMetrics } from './observability/exposition.ts';
import { startInSandboxMode } from './support/app.ts';
import { solveChallenge } from './support/challenges.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from './support/graphql.ts';
import { ask, post } from './support/requests.ts';

/** What the README says is true: its answers, its tables, its commands and its paths. */

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const app = await startInSandboxMode({ logLevel: 'debug' });
afterAll(() => app.stop());

/** The cells of every table row whose first cell is in code. */
const rows = [...README.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()));

/** The cells of every row of the table that begins with this. */
function rowsAfter(head: string): string[][] {
  const [, table = ''] = README.split(head);
  const [, , ...lines] = table.split('\n\n', 1).join().split('\n');
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

interface Block {
  readonly language: string;
  readonly text: string;
}
const blocks: Block[] = [...README.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

/** Each operation with the JSON blocks that follow it: variables and answer, or the answer alone, or nothing. */
const operations = blocks.flatMap(({ language, text }, index) => {
  if (language !== 'graphql' || text.startsWith('type ')) return [];
  const next = blocks.findIndex((block, later) => later > index && block.language === 'graphql');
  const json = blocks.slice(index + 1, next < 0 ? undefined : next).filter((block) => block.language === 'json');
  return [
    { name: /\w+ (\w+)/.exec(text)?.[1] ?? '', document: text, json: json.map((block) => JSON.parse(block.text)) },
  ];
});

describe('operations', () => {
  test('there is one for each field of the graph, and more', () => {
    expect(operations.map(({ name }) => name)).toEqual(['Login', 'Checkout', 'Rejected', 'Catalogue', 'Captcha']);
  });

  test.each(operations)('$name answers what the README shows', async ({ document, json }) => {
    const [variables, answer] =
      json.length === 2 ? json : [{ input: await solveChallenge(app.sandboxUrls?.GLB ?? '') }, json[0]];
    const { data, errors } = await ask(app.graphqlUrl, document, variables);
    expect(errors).toBeUndefined();
    if (answer) expect({ data }).toEqual(answer);
  });
});

test('the code of the frontend is that of the page', () => {
  const [snippet, ...others] = blocks.filter(({ language }) => language === 'ts');
  expect(others).toEqual([]);
  expect(readFileSync(join(ROOT, 'test/supergraph/frontend/checkout.ts'), 'utf8')).toContain(snippet?.text ?? 'none');
});

describe('tables', () => {
  test('errors: every code, with its side and whether a retry helps', () => {
    const documented = rows
      .filter(([code = '', side = '']) => /^`[A-Z_]+`$/.test(code) && /^(caller|upstream|operator)$/.test(side))
      .map(([code, side, retryable]) => [code, side, retryable]);
    const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { side, retryable }]) => [
      `\`${code}\``,
      side,
      retryable ? 'yes' : 'no',
    ]);
    expect(documented).toEqual(catalogue);
  });

  test('configuration: every variable, with its default and what is expected', () => {
    const variables = Object.values<Variable>(VARIABLES);
    expect(rowsAfter('| variable | default |')).toEqual(
      variables.map(({ name, secret, default: fallback, description, expected }) => [
        `\`${name}\`${secret ? ' (secret)' : ''}`,
        fallback ? `\`${fallback}\`` : 'none',
        description,
        expected,
      ]),
    );
  });

  test('a line of the log: every field, in the order in which it stands there', async () => {
    const documented = rowsAfter('| field | what it is |').map(([field]) => field);
    const headers = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      'apollographql-client-name': 'shop-web',
      'apollographql-client-version': '1.2.3',
    };
    const query = 'query Login { deviceFingerprint(token: "sandbox:error:500") { __typename } }';
    await post(app.graphqlUrl, JSON.stringify({ query }), headers);
    const [level, time, ...fields] = Object.keys(JSON.parse(app.logged().trimEnd().split('\n').at(-1) ?? ''));
    expect([level, time, fields.pop()]).toEqual(['level', 'time', 'msg']);
    expect(documented).toEqual(fields.map((field) => `\`${field}\``));
    const example = blocks.find(({ language, text }) => language === 'json' && text.includes('"requestId"'));
    expect(Object.keys(JSON.parse(example?.text ?? ''))).toEqual(['level', 'time', ...fields, 'msg']);
  });

  test('metrics: every one of ours, and its labels', async () => {
    const documented = rowsAfter('| metric | labels |').map(([metric = '', labels = '']) => ({
      metric: metric.replaceAll('`', ''),
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    }));
    await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: await solveChallenge(app.sandboxUrls?.GLB ?? '') });
    await ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 'sandbox:android:EMULATOR' });
    const { families, samples } = await readMetrics(app);
    const names = documented.map(({ metric }) => metric);
    for (const name of names) expect([...families.keys()]).toContain(name);
    expect(names.filter((name) => name.startsWith('device_trust_')).sort()).toEqual(
      [...families.keys()].filter((name) => name.startsWith('device_trust_')).sort(),
    );
    for (const { metric, labels } of documented) {
      const sample = samples.find(({ name }) => name.replace(/_(bucket|sum|count)$/, '') === metric);
      expect([metric, Object.keys(sample?.labels ?? {}).filter((label) => label !== 'le')]).toEqual([metric, labels]);
    }
  });

  test('dependencies: every package', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const documented = rowsAfter('| package | why').flatMap(([packages = '']) =>
      [...packages.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
    );
    const packages = Object.keys({ ...dependencies, ...devDependencies });
    const fits = (name: string, pattern: string) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
    expect(packages.filter((name) => !documented.some((pattern) => fits(name, pattern)))).toEqual([]);
    expect(documented.filter((pattern) => !packages.some((name) => fits(name, pattern)))).toEqual([]);
  });

  test('the example of a configuration has no mistake apart from its placeholders, and is right without them', () => {
    const example = blocks.find(({ language, text }) => language === 'sh' && text.includes('export '))?.text ?? '';
    const env = Object.fromEntries(
      [...example.matchAll(/^export (\w+)='?([^'\n]+)'?$/gm)].map(([, name, value]) => [name, value]),
    );
    const refusal = (name: string, own: string) =>
      `${name}: expected ${own}, but got the placeholder of the documentation.`;
    expect(problemsOf(env)).toEqual([
      refusal('ROUTER_SECRETS', 'a secret of your own'),
      refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.publicKey'),
      refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.secret'),
      refusal('FINGERPRINT_URL_EU', 'an address of your own'),
      refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaId'),
      refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaKey'),
      refusal('CAPTCHA_URL_EU', 'an address of your own'),
    ]);
    const own = Object.entries(env).map(([name, value]) => [
      name,
      String(value)
        .replaceAll('change-me', 'different')
        .replace(/\.example$/, '.test'),
    ]);
    expect(accountsOf(parseConfig(Object.fromEntries(own), () => ''))).toMatchObject({
      applications: [{ publicKey: 'different', baseUrl: 'https://fingerprint.eu.test' }],
      captchas: [{ baseUrl: 'https://captcha.eu.test' }],
    });
  });
});

describe('names', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  test.each(
    [...new Set([...README.matchAll(/npm (?:run )?([a-z][a-z:]*)/g)].map(([, script = '']) => script))].filter(
      (word) => !['ci', 'audit'].includes(word),
    ),
  )('npm %s is there', (script) => expect(scripts).toHaveProperty(script));

  // `dist/` is there only once something was built.
  const paths = [...README.matchAll(/`([\w./-]+(?:\.ts|\.graphql|\/))`/g)].map(([, path = '']) => path);
  test.each([...new Set(paths)].filter((path) => path !== 'dist/'))('%s is there', (path) => {
    expect(existsSync(join(ROOT, 'src', path)) || existsSync(join(ROOT, path))).toBe(true);
  });
});
