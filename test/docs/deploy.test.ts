import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/parser.ts';
import { placeholdersIn } from '../../src/config/placeholders.ts';
import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { NEVER_FROM_A_CLIENT, PASSED_ON } from '../deploy/router-files.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ROOT, shell, startProcess } from '../support/process.ts';
import { ask, post } from '../support/requests.ts';
import { codeIn, commandsOf, readPage } from './markdown.ts';

/** What the operator's page says is true: its tables, its log lines and its commands. */

const page = readPage('deploy/README.md');
const app = await startInSandboxMode({
  logLevel: 'debug',
  fingerprintQuota: { perDay: 1_000 },
  trustedHeaders: { metadata: { ja4: { header: 'x-ja4' } } },
});
afterAll(() => app.stop());

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('configuration: every variable, with its default and what is expected', () => {
  const variables = Object.values<Variable>(VARIABLES);
  expect(page.rowsOf('variable', 'default', 'what it is', 'expected')).toEqual(
    variables.map(({ name, secret, default: fallback, description, expected }) => [
      `\`${name}\`${secret ? ' (secret)' : ''}`,
      fallback ? `\`${fallback}\`` : 'none',
      description,
      expected,
    ]),
  );
});

test('who may ask: the example is accepted once its placeholder is replaced', () => {
  const [example] = page.blocks.filter(({ language }) => language === 'env');
  const lines =
    example?.text
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)) ?? [];
  const env = { UPSTREAM_MODE: 'sandbox', ...Object.fromEntries(lines) };
  expect(lines.map(([name]) => name)).toEqual(['SERVICES', 'TRUSTED_HEADERS']);
  const read = parseConfig(env, () => '');
  expect(read.services).toMatchObject([{ name: 'orders', scopes: ['risk:read'] }]);
  expect(read.trustedHeaders).toEqual({ subject: 'x-user-id', scopes: 'x-user-scopes' });
  expect(placeholdersIn(VARIABLES.services, env['SERVICES'] ?? '')).toHaveLength(1);
});

describe('what is known about the client', () => {
  const [, example] = page.blocks.filter(({ language }) => language === 'env');

  test('the example is accepted', () => {
    const TRUSTED_HEADERS = example?.text.trim().replace('TRUSTED_HEADERS=', '') ?? '';
    const read = parseConfig({ UPSTREAM_MODE: 'sandbox', TRUSTED_HEADERS }, () => '').trustedHeaders;
    expect(Object.keys(read?.metadata ?? {})).toEqual(['ipAddr', 'accountId', 'userAgent', 'ja4']);
  });

  test('every header of an edge is one that can be configured', () => {
    const rows = page.rowsOf('edge', 'client IP', 'JA3', 'JA4', 'what to know');
    expect(rows.map(([edge]) => edge)).toHaveLength(5);
    const names = rows
      .flatMap((row) => row.slice(1, 4))
      .flatMap((cell = '') => cell.match(/(?<=`)[\w-]+-[\w-]+(?=`)/g) ?? []);
    expect(names).toEqual(expect.arrayContaining(['cf-connecting-ip', 'cf-ja4', 'CloudFront-Viewer-Address']));
    for (const header of names) {
      const TRUSTED_HEADERS = JSON.stringify({ metadata: { ipAddr: { header } } });
      expect(() => parseConfig({ UPSTREAM_MODE: 'sandbox', TRUSTED_HEADERS }, () => '')).not.toThrow();
    }
  });

  test('the files for routers send what the example on their page believes', () => {
    const [routers] = readPage('deploy/router/README.md').blocks.filter(({ language }) => language === 'env');
    const TRUSTED_HEADERS = routers?.text.trim().replace('TRUSTED_HEADERS=', '') ?? '';
    const { trustedHeaders } = parseConfig({ UPSTREAM_MODE: 'sandbox', TRUSTED_HEADERS }, () => '');
    expect(trustedHeaders).toMatchObject({ subject: 'x-user-id', scopes: 'x-user-scopes' });
    const believed = [...TRUSTED_HEADERS.matchAll(/"(x-[\w-]+)"/g)].map(([, name]) => name);
    expect([...NEVER_FROM_A_CLIENT, ...PASSED_ON]).toEqual(expect.arrayContaining(believed));
  });
});

describe('health', () => {
  test.each(page.rowsOf('path', 'answer'))('%s answers %s', async (path = '', answer) => {
    const response = await fetch(app.url + path.replace(/^`GET (.*)`$/, '$1'));
    expect(`${response.status}`).toBe(answer?.slice(0, 3));
  });
});

describe('stopping', () => {
  test('the times are those of the manifests', () => {
    const [, grace, end, kill] = page.rowsOf('after SIGTERM', 'what happens').map(([when = '']) => when);
    const graceMs = Number(parse(read('deploy/kubernetes/config.yaml')).data.SHUTDOWN_GRACE_MS);
    const { spec } = parse(read('deploy/kubernetes/deployment.yaml'));
    expect(grace).toBe(`${graceMs / 1_000} s, \`SHUTDOWN_GRACE_MS\``);
    // The 7 s for requests under way are tested in `test/server`.
    expect(end).toMatch(new RegExp(`^${graceMs / 1_000 + 7} s at most`));
    expect(kill).toBe(`${spec.template.spec.terminationGracePeriodSeconds} s, \`terminationGracePeriodSeconds\``);
  });
});

describe('logs', () => {
  test('the line of an operation: every field, in the order in which it is written', async () => {
    // Only the line of a good operation has a sample, and this one fails.
    const documented = page.rowsOf('field', 'what it is').flatMap(([field]) => (field === '`sample`' ? [] : [field]));
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
    const [example] = page.blocks.filter(({ language }) => language === 'json');
    expect(Object.keys(JSON.parse(example?.text ?? ''))).toEqual(['level', 'time', ...fields, 'msg']);
  });

  test('the line of a refused credential', async () => {
    await ask(app.graphqlUrl, 'query { deviceFingerprint(token: "sandbox:error:401") { __typename } }');
    const written = app.logged().trimEnd().split('\n');
    const line = written.map((one) => JSON.parse(one)).find(({ code }) => code === 'UPSTREAM_REJECTED');
    const [, example] = page.blocks.filter(({ language }) => language === 'json');
    const shown = JSON.parse(example?.text ?? '');
    expect(Object.keys(line)).toEqual(Object.keys(shown));
    const { time, requestId, internal } = line;
    expect(line).toEqual({ ...shown, time, requestId, internal });
    expect(internal).toBe(shown.internal.replace('pk_1', 'pk_sandbox_glb'));
  });

  test('every field that the logger lets through is in one of the two tables, and no other', () => {
    const [, list = ''] = /const ALLOWED\w*[^[]*\[([^\]]*)\]/.exec(read('src/observability/logger.ts')) ?? [];
    const allowed = [...list.matchAll(/'(\w+)'/g)].map(([, field]) => field);
    const documented = [
      ...page.rowsOf('field', 'what it is'),
      ...page.rowsOf('field of other lines', 'what it is'),
    ].flatMap(([cell = '']) => codeIn(cell));
    expect(documented.sort()).toEqual(allowed.sort());
  });
});

test('metrics: every one of ours, and its labels', async () => {
  const documented = page.rowsOf('metric', 'labels').map(([metric = '', labels = '']) => ({
    metric: metric.replaceAll('`', ''),
    labels: codeIn(labels),
  }));
  const url = `${app.sandboxUrls?.GLB}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`;
  const { lot_number, captcha_output, pass_token, gen_time } = await (await fetch(url, { method: 'POST' })).json();
  const input = { lotNumber: lot_number, captchaOutput: captcha_output, passToken: pass_token, genTime: gen_time };
  await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
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

describe('commands', () => {
  /** These need Docker, registries and a cluster. `npm run test:image` builds the Dockerfile without. */
  const NEEDS_A_CLUSTER = /^(cosign |docker |git tag |image=|kubectl )/;

  test('every other one is tried below', () => {
    expect(commandsOf(page).filter((command) => !NEEDS_A_CLUSTER.test(command))).toEqual([
      'npm run sandbox',
      'npm start',
      expect.stringMatching(/^curl /),
    ]);
  });

  test('the configuration to try is accepted as it is, and the query is answered as the page shows', async () => {
    const [example = ''] = page.blocks.flatMap(({ text }) => (text.startsWith('export ') ? [text] : []));
    const env = Object.fromEntries(
      [...example.matchAll(/^export (\w+)='?([^'\n]+)'?$/gm)].map(([, name = '', value = '']) => [
        name,
        value.replace('http://127.0.0.1:4100', String(app.sandboxUrls?.GLB)),
      ]),
    );
    const question = page.blocks.findIndex(({ text }) => text.startsWith('curl '));
    const [query, answer] = page.blocks.slice(question, question + 2).map(({ text }) => text);
    const child = startProcess('src/main.ts', { ...env, PORT: '0' });
    try {
      const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/);
      const answered = await shell((query ?? '').replace('http://127.0.0.1:4001/graphql', url));
      expect(JSON.parse(answered)).toEqual(JSON.parse(answer ?? ''));
    } finally {
      await child.stop();
    }
  }, 20_000);

  test('the folders and files that they name are there, except the copy of the secret', () => {
    const paths = commandsOf(page).flatMap((command) => command.match(/(?<= )[\w./-]+\/[\w./-]+(?= |$)/g) ?? []);
    const local = paths.filter((path) => !path.startsWith('registry.example/'));
    expect(local).toEqual(['deploy/Dockerfile', 'deploy/kubernetes']);
  });

  test('the command for metrics prints them', async () => {
    const [, command = ''] = page.rowsOf('to see', 'do').find(([what]) => what === 'metrics') ?? [];
    const [curl = ''] = codeIn(command);
    expect(await shell(curl.replace('http://127.0.0.1:9464/metrics', app.metricsUrl))).toContain('device_trust_');
  });
});
