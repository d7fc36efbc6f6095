import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createVerifier } from '../../schema/recipes/attestation.ts';
import type { Variable } from '../../src/config/values.ts';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ROOT, shell } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { readPage } from './markdown.ts';

/** The operations and the tables of the API reference. */

/** An operation of the page, with the variables to send and the answer that the page shows. */
interface Example {
  readonly name: string;
  readonly document: string;
  /** Undefined where the page says in words what to send. */
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly answer: { readonly data: Readonly<Record<string, unknown>> };
}

const page = readPage('schema/README.md');
const app = await startInSandboxMode({ trustedHeaders: { subject: 'x-user-id' } });
afterAll(() => app.stop());

/** Every operation with each of its answers: JSON with `data` is an answer, other JSON the variables of the next. */
const examples: Example[] = [];
let document = '';
let variables: Example['variables'];
for (const { language, text } of page.blocks) {
  if (language === 'graphql') {
    document = text;
    variables = undefined;
  } else if (language === 'json' && document) {
    const json = JSON.parse(text);
    if ('data' in json)
      examples.push({ name: /\w+ (\w+)/.exec(document)?.[1] ?? '', document, variables, answer: json });
    variables = 'data' in json ? undefined : json;
  }
}

describe('operations', () => {
  test.each(examples)('$name answers what the page shows: $answer', async ({ document, variables, answer }) => {
    const input = () => solveChallenge(String(app.sandboxUrls?.GLB));
    const { data, errors } = await ask(app.graphqlUrl, document, variables ?? { input: await input() });
    expect(JSON.parse(JSON.stringify({ data, errors }))).toEqual(answer);
  });
});

test('the command of schema/README.md gets an attestation that a service accepts from `user-1`', async () => {
  const command = page.blocks.find(({ text }) => text.includes('curl '))?.text ?? '';
  const here = command
    .replace('http://127.0.0.1:4001', app.url)
    .replace('http://127.0.0.1:4100', `${app.sandboxUrls?.GLB}`);
  const { attestation } = JSON.parse(await shell(here)).data.validateCaptcha;
  const { issuer } = SANDBOX_ATTESTATION;
  const jwksUrl = `${app.url}/.well-known/jwks.json`;
  const verify = createVerifier({ jwksUrl, issuer, audience: 'orders', subject: 'required' });
  expect(await verify(attestation, 'placeOrder', 'user-1')).toMatchObject({ assurance: 'verified' });
});

describe('tables', () => {
  test('the table of recipes names the version of each library that its recipe is tried with', () => {
    const read = (file: string) => readFileSync(join(ROOT, 'schema/recipes', file), 'utf8');
    const needed = [
      [/^.*\bjose ([\d.]+) or later/, 'attestation.ts'],
      [/PyJWT \(([\d.]+) or later\)/, 'verify_attestation.py'],
      [/jwx\/v3 v(\d+\.\d+)/, 'go/go.mod'],
      [/nimbus-jose-jwt<\/artifactId>\s*<version>([\d.]+)</, 'java/pom.xml'],
      [/^jsonwebtoken = \{ version = "([\d.]+)"/m, 'rust/Cargo.toml'],
    ] as const;
    const named = page.rowsOf('language', 'file', 'library').map(([, , library]) => library?.split(' ').at(-1));
    expect(named).toEqual(needed.map(([pattern, file]) => pattern.exec(read(file))?.[1]));
  });

  const codesIn = (text = '') => [...text.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code);

  test('the table of errors has every code once, at its side, and all that a retry helps', () => {
    const catalogue = Object.entries(ERROR_CATALOGUE);
    const rows = page
      .rowsOf('side', 'action', 'codes')
      .flatMap(([side, , codes]) => codesIn(codes).map((code) => [code, side]));
    expect(rows.toSorted()).toEqual(catalogue.map(([code, { side }]) => [code, side]).toSorted());
    const [, retryable] = /With `extensions.retryable` [^:]+: ([^.]+)\./.exec(page.text) ?? [];
    const helped = catalogue.filter(([, one]) => one.retryable).map(([code]) => code);
    expect(codesIn(retryable).toSorted()).toEqual(helped.toSorted());
  });

  test('the table of limits has the default of each variable, and codes of the catalogue', () => {
    const rows = page.rowsOf('limit of one request', 'variable', 'default', 'code');
    expect(rows.length).toBeGreaterThan(5);
    const defaults = new Map(Object.values<Variable>(VARIABLES).map((one) => [`\`${one.name}\``, one.default]));
    for (const [, variable = '', value, code = ''] of rows) {
      if (!code.startsWith('none: ')) expect(Object.keys(ERROR_CATALOGUE)).toContain(code.replaceAll('`', ''));
      if (variable !== 'none') expect([variable, value]).toEqual([variable, defaults.get(variable)]);
    }
  });
});
