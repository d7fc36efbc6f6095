import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSchema, isAbstractType, Kind, parse, TypeInfo, validate, visit, visitWithTypeInfo } from 'graphql';
import { describe, expect, test } from 'vitest';
import { operationsWith } from '../../src/explorer.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { ROOT, shell } from '../support/process.ts';
import { operationsOf, readPage } from './markdown.ts';

/** Every page: its links lead somewhere, and its scripts are there. And the commands of the sandbox. */

const PAGES = globSync(['*.md', '{.github,deploy,schema,src,test}/**/*.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
});
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** As GitHub names the anchor of a heading. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}

describe.each(PAGES)('%s', (path) => {
  const { prose, text } = readPage(path);

  test('each link to a file or a heading of this project leads there', () => {
    const links = [...prose.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    const broken = links.filter((link) => {
      if (link.startsWith('https://')) return false;
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? join(ROOT, path) : join(ROOT, dirname(path), target);
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
    });
    expect(broken).toEqual([]);
  });

  test('each script that the page names is there', () => {
    // The changelog says which scripts there were.
    const named = path === 'CHANGELOG.md' ? [] : [...text.matchAll(/npm run ([a-z][a-z:]*)/g)];
    expect(named.map(([, script = '']) => script).filter((script) => !(script in scripts))).toEqual([]);
  });
});

test('each operation of a page is valid and has what generators of code ask for: a name, and `__typename` of every union and interface', async () => {
  const ours = buildSchema(readFileSync(join(ROOT, 'schema/clients/both.graphql'), 'utf8'));
  const explored = await operationsWith('data:,{}', ['fingerprint', 'captcha']);
  const documents = [...PAGES.flatMap((path) => operationsOf(readPage(path))), ...explored.map((one) => one.document)];
  expect(documents.length).toBeGreaterThan(14);
  const flaws = documents.flatMap((text) => {
    const document = parse(text);
    const types = new TypeInfo(ours);
    const found = validate(ours, document).map(({ message }) => message);
    const visitor = visitWithTypeInfo(types, {
      OperationDefinition: ({ name }) => {
        if (!name) found.push('no name');
      },
      SelectionSet: ({ selections }) => {
        const type = types.getParentType();
        const hasName = selections.some((one) => one.kind === Kind.FIELD && one.name.value === '__typename');
        if (isAbstractType(type) && !hasName) found.push(`${type.name} without __typename`);
      },
    });
    visit(document, visitor);
    return found.map((flaw) => `${flaw} in ${text}`);
  });
  expect(flaws).toEqual([]);
});

test('the commands of the page of the sandbox do what they say: two signals, a pass, and a service that is down', async ({
  onTestFinished,
}) => {
  const sandbox = await startSandbox({ port: 0 });
  onTestFinished(sandbox.stop);
  const [query = '', verification = '', controls = ''] = readPage('src/sandbox/README.md').blocks.map(({ text }) =>
    text.replaceAll('http://127.0.0.1:4100', sandbox.urls.GLB),
  );
  const { code, data } = JSON.parse(await shell(query));
  expect([code, data.signals]).toMatchObject([200, [{ signal: 'EMULATOR' }, { signal: 'VPN_ENABLED' }]]);
  expect(JSON.parse(await shell(verification))).toMatchObject({ status: 'success', result: 'success' });
  // One after the other, each to its end: a fault of 30 seconds, another, a key.
  expect((await shell(controls)).split('}{')).toHaveLength(3);
  await expect(shell(query)).rejects.toThrow();
});
