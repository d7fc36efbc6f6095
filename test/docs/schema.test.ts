import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import type { Variable } from '../../src/config/values.ts';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { createVerifier } from '../supergraph/orders/attestation.ts';
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

test('pasted into a shell the command gets an attestation that a service accepts from `user-1`', async () => {
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
  const valuesOf = (type: string) => {
    const sdl = ['fingerprint', 'captcha'].map((name) => readFileSync(join(ROOT, `schema/${name}.graphql`), 'utf8'));
    const definition = parse(sdl.join('\n')).definitions.find((one) => 'name' in one && one.name?.value === type);
    return definition?.kind === 'EnumTypeDefinition' ? definition.values?.map(({ name }) => `\`${name.value}\``) : type;
  };

  test('errors: every code, with its side and whether a retry helps', () => {
    const catalogue = Object.entries(ERROR_CATALOGUE).map(([code, { side, retryable }]) => [
      `\`${code}\``,
      side,
      retryable ? 'yes' : 'no',
    ]);
    expect(page.rowsOf('code', 'whose side', 'retryable').map((row) => row.slice(0, 3))).toEqual(catalogue);
  });

  test('rejections and verifications without a verdict: every reason, every cause', () => {
    const first = (header: string) => page.rowsOf(header).map(([cell]) => cell);
    expect(first('`reason`')).toEqual(valuesOf('DeviceFingerprintRejectionReason'));
    expect(first('`cause`')).toEqual(valuesOf('CaptchaIndeterminateCause'));
  });

  test('limits: each has the default of its variable, and a code of the catalogue', () => {
    const rows = page.rowsOf('limit of one request', 'variable', 'default', 'code');
    expect(rows.length).toBeGreaterThan(5);
    const defaults = new Map(Object.values<Variable>(VARIABLES).map((one) => [`\`${one.name}\``, one.default]));
    for (const [, variable = '', value, code = ''] of rows) {
      if (!code.startsWith('none: ')) expect(Object.keys(ERROR_CATALOGUE)).toContain(code.replaceAll('`', ''));
      if (variable !== 'none') expect([variable, value]).toEqual([variable, defaults.get(variable)]);
    }
  });
});
