import { readFileSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema, Kind, parse, validate } from 'graphql';
import { afterAll, test } from 'vitest';
import { operationsOf, readPage } from '../docs/markdown.ts';
import { deskSdl, shopSdl } from '../supergraph/public-schema.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT } from '../support/process.ts';
import { passOnTo, startUpstream } from '../support/upstream.ts';
import { type Column, columns, SCHEMAS } from './columns.ts';
import { sh } from './sh.ts';

/** Generators of code, with every operation of the pages that a schema has, and an answer that is newer than the code. */

const committed = (name: string) => readFileSync(join(ROOT, `test/graphql/${name}.graphql`), 'utf8');
const SDL = { desk: deskSdl(), shop: shopSdl(), api: committed('api'), services: committed('services') };
const PAGES = ['README.md', 'schema/README.md', 'schema/FRONTEND.md'];
const documents = PAGES.flatMap((page) => operationsOf(readPage(page))).map((text) => parse(text));

const app = await startInSandboxMode();
/** As the subgraph will answer when it has another action, and other types. */
const newer = await Promise.all([
  startUpstream(passOnTo(app.url, (answer) => answer.replaceAll('"CHALLENGE"', '"REVIEW"'))),
  startUpstream(passOnTo(app.url, (answer) => answer.replaceAll(/"(DeviceFingerprint|CaptchaFailed)"/g, '"$1Next"'))),
]);
afterAll(() => Promise.all([app, ...newer].map(({ stop }) => stop())));
const urls = [app.graphqlUrl, ...newer.map(({ url }) => `${url}/graphql`)];

/** Copies what a column needs into a folder that git ignores, and from where packages are found. What was installed there stays. */
async function prepare({ name, files, config, module }: Column): Promise<string> {
  const folder = join(ROOT, 'dist/clients', name);
  for (const schema of SCHEMAS) {
    await rm(join(folder, schema), { recursive: true, force: true });
    await mkdir(join(folder, schema), { recursive: true });
    await writeFile(join(folder, schema, 'schema.graphql'), SDL[schema]);
    const valid = documents.filter((document) => validate(buildSchema(SDL[schema]), document).length === 0);
    const operations = valid.flatMap(({ definitions }) => definitions);
    const text = module
      ? module(operations.filter((one) => one.kind === Kind.OPERATION_DEFINITION))
      : valid.map(({ loc }) => loc?.source.body).join('\n');
    await writeFile(join(folder, schema, module ? 'operations.ts' : 'operations.graphql'), text);
  }
  await cp(join(import.meta.dirname, files), folder, { recursive: true });
  if (config) await writeFile(join(folder, config[0]), JSON.stringify(config[1]));
  return folder;
}

const rows = readPage('schema/FRONTEND.md').rowsOf('generator', 'newer enum value', 'newer type');
/** What each cell of the table is for a program. */
const SEEN: Readonly<Record<string, string>> = {
  text: 'REVIEW',
  'your `default`': 'other',
  '`UNKNOWN__`': 'UNKNOWN__',
};
const seen = (cell = '') => SEEN[cell] ?? cell;

// Side by side, because half of the time they wait for a registry.
test.concurrent.for(columns().map((column) => [column.name, column] as const))(
  '%s generates code that compiles, and reads answers of today and newer ones as the page says',
  { timeout: 600_000 }, // Rust takes minutes on a busy machine that has built nothing yet.
  async ([name, column], { expect }) => {
    const folder = await prepare(column);
    // The error of a command that fails has its stderr.
    await sh(`exec >&2\n${column.build}`, folder, column.program);
    const printed = await sh(`${column.run} ${urls.join(' ')}`, folder, column.program);
    const [, action, type] = rows.find(([cell]) => cell?.includes(name)) ?? [];
    expect(printed.trim().split('\n')).toEqual([
      'CHALLENGE CaptchaFailed',
      `${seen(action)} CaptchaFailed`,
      `${seen(type)} ${seen(type)}`,
    ]);
  },
);
