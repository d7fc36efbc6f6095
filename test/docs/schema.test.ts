import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { causeOf, indeterminate, type NoVerdict, noVerdict } from '../../src/captcha/verdict.ts';
import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import type { Finding, HealthState } from '../../src/upstream/finding.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { codeIn, examplesOf, readPage } from './markdown.ts';

/** What the API reference says is true: its answers, its tables and its code. */

const page = readPage('schema/README.md');
const examples = examplesOf(page);
const app = await startInSandboxMode();
afterAll(() => app.stop());

/** What the captcha widget gives to a page. */
async function solvedChallenge() {
  const url = `${app.sandboxUrls?.GLB}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`;
  const { lot_number, captcha_output, pass_token, gen_time } = await (await fetch(url, { method: 'POST' })).json();
  return { lotNumber: lot_number, captchaOutput: captcha_output, passToken: pass_token, genTime: gen_time };
}

describe('operations', () => {
  test('there is one for each field of the graph, and for references', () => {
    const fields = examples.map(({ answer }) => Object.keys(answer.data).join());
    expect([...new Set(fields)]).toEqual(['deviceFingerprint', 'signalCatalogue', 'validateCaptcha', '_entities']);
  });

  test('each outcome of the graph is shown', () => {
    const outcomes = examples.flatMap(({ answer }) => JSON.stringify(answer).match(/(?<="__typename":")\w+/g) ?? []);
    expect(outcomes).toEqual([
      'DeviceFingerprint',
      'DeviceFingerprintRejected',
      'CaptchaPassed',
      'CaptchaFailed',
      'CaptchaIndeterminate',
    ]);
  });

  test.each(examples.filter(({ name }) => name !== 'Catalogue'))(
    '$name answers what the page shows: $answer',
    async ({ document, variables, answer }) => {
      const { data, errors } = await ask(app.graphqlUrl, document, variables ?? { input: await solvedChallenge() });
      expect(JSON.parse(JSON.stringify({ data, errors }))).toEqual(answer);
    },
  );

  test('the catalogue begins as the page shows, and has 51 signals', async () => {
    const { document = '', answer } = examples.find(({ name }) => name === 'Catalogue') ?? {};
    const { data, errors } = await ask(app.graphqlUrl, document);
    expect(errors).toBeUndefined();
    expect(data.signalCatalogue).toHaveLength(51);
    expect({ signalCatalogue: data.signalCatalogue.slice(0, 1) }).toEqual(answer?.data);
  });
});

test('the recipes are the code that the example supergraph runs', () => {
  const snippets = page.blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  const files = ['orders/attestation.ts', 'shop/checkout.ts'];
  expect(snippets).toEqual(files.map((file) => readFileSync(join(ROOT, 'test/supergraph', file), 'utf8')));
});

test('what is to be kept from browsers is what the schema tags', () => {
  const [, sentence = ''] = /For this, (.*?) and\s+their types carry/s.exec(page.text) ?? [];
  const { definitions } = parse(readFileSync(join(ROOT, 'schema/fingerprint.graphql'), 'utf8'));
  const tagged = definitions.flatMap((definition) =>
    definition.kind === 'ObjectTypeDefinition'
      ? (definition.fields ?? []).filter(({ directives }) => directives?.some(({ name }) => name.value === 'tag'))
      : [],
  );
  expect(codeIn(sentence).sort()).toEqual(tagged.map(({ name }) => name.value).sort());
});

describe('tables', () => {
  const valuesOf = (type: string) => {
    const sdl = ['fingerprint', 'captcha'].map((name) => readFileSync(join(ROOT, `schema/${name}.graphql`), 'utf8'));
    const definition = parse(sdl.join('\n')).definitions.find((one) => 'name' in one && one.name?.value === type);
    if (definition?.kind !== 'EnumTypeDefinition') throw new Error(`expected the enum ${type}, but got none`);
    return definition.values?.map(({ name }) => `\`${name.value}\``);
  };

  test('errors: every code, with its side and whether a retry helps', () => {
    const documented = page.rowsOf('code', 'whose side', 'retryable').map((row) => row.slice(0, 3));
    const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { side, retryable }]) => [
      `\`${code}\``,
      side,
      retryable ? 'yes' : 'no',
    ]);
    expect(documented).toEqual(catalogue);
  });

  test('rejections: every reason', () => {
    const documented = page.rowsOf('`reason`').map(([reason]) => reason);
    expect(documented).toEqual(valuesOf('DeviceFingerprintRejectionReason'));
  });

  test('verifications without a verdict: every cause', () => {
    expect(page.rowsOf('`cause`').map(([cause]) => cause)).toEqual(valuesOf('CaptchaIndeterminateCause'));
  });

  test('verifications without a verdict: each row of the table is what the default policy decides', () => {
    const finding = (state: HealthState, hasWorked: boolean, reason = '') => ({ state, hasWorked, reason });
    const [well, unknown, outage] = [finding('well', true), finding('unknown', true), finding('outage', true)];
    const refused = finding('refused', true, '-50105');
    const isNotAccepted = noVerdict('CONFIGURATION', '-50105');
    const decided: [NoVerdict, Finding, isDefaultId: boolean][] = [
      [noVerdict('CLIENT'), outage, true],
      [noVerdict('SERVICE'), well, true],
      [noVerdict('SERVICE'), unknown, true],
      [noVerdict('SERVICE'), outage, true],
      [noVerdict('TRANSPORT'), well, true],
      [noVerdict('TRANSPORT'), unknown, true],
      [noVerdict('TRANSPORT'), outage, true],
      [isNotAccepted, refused, true],
      [isNotAccepted, refused, false],
      [isNotAccepted, well, true],
      [noVerdict('TRANSPORT'), finding('outage', false), true],
    ];
    const rows = page.rowsOf('what happened to the verification').map(([, , cause, proceed]) => [cause, proceed]);
    const verdicts = decided.map(([none, found, isDefaultId]) =>
      indeterminate(none, { policy: 'faults', isDefaultId }, found),
    );
    expect(rows).toEqual(verdicts.map((verdict) => [`\`${causeOf(verdict)}\``, String(verdict.proceed)]));
  });

  // By the way in which the sandbox, which is well, brings each cause about for the first captcha id.
  test.each([
    ['CLIENT', '-50003'],
    ['CONFIGURATION', '-50105'],
    ['SERVICE', '-50000'],
  ])('verifications without a verdict: %s does not proceed while the service answers', async (cause, code) => {
    const input = { lotNumber: `sandbox:exception:${code}`, captchaOutput: 'x', passToken: 'x', genTime: '1' };
    const { document = '' } = examples.find(({ name }) => name === 'Captcha') ?? {};
    const { data } = await ask(app.graphqlUrl, document, { input });
    expect(data.validateCaptcha).toMatchObject({ cause, proceed: false });
  });

  test('limits: each has the default of its variable, and a code of the catalogue', () => {
    const rows = page.rowsOf('limit of one request', 'variable', 'default', 'code');
    expect(rows.length).toBeGreaterThan(5);
    const variables = new Map(Object.values<Variable>(VARIABLES).map(({ name, default: value }) => [name, value]));
    for (const [, variable = '', value, code = ''] of rows) {
      expect(Object.keys(ERROR_CATALOGUE)).toContain(code.replaceAll('`', ''));
      if (variable !== 'none')
        expect([variable, value]).toEqual([variable, variables.get(variable.replaceAll('`', ''))]);
    }
  });

  test('HTTP statuses: each that can be brought about from outside is the one that the page says', async () => {
    const documented = page.rowsOf('HTTP status', 'when').map(([status]) => Number(status));
    const json = { 'content-type': 'application/json' };
    const request = async (path: string, init: RequestInit) => (await fetch(app.url + path, init)).status;
    const send = (body: string, headers: Record<string, string> = json) =>
      request('/graphql', { method: 'POST', headers, body });
    const met = [
      await send('{"query":"{ __typename }"}'),
      await send('{'),
      await request('/elsewhere', { method: 'POST' }),
      await request('/graphql', { method: 'PUT' }),
      await send('{"query":"{ __typename }"}', { ...json, accept: 'text/plain' }),
      await send(`{"query":"{ __typename }","padding":"${' '.repeat(524_288)}"}`),
      await send('{"query":"{ __typename }"}', { 'content-type': 'text/plain' }),
    ];
    expect(met).toEqual([200, 400, 404, 405, 406, 413, 415]);
    // The rest: `test/server/` brings about 401, 500 and 503.
    expect(documented).toEqual([...met, 401, 500, 503].sort());
  });
});
