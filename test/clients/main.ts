import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildSchema, Kind, parse, validate } from 'graphql';
import { operationsOf, readPage } from '../docs/markdown.ts';
import { deskSdl } from '../supergraph/public-schema.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT } from '../support/process.ts';
import { find, hint, type Program } from '../support/programs.ts';
import { passOnTo, startUpstream } from '../support/upstream.ts';
import { COLUMNS, type Column } from './columns.ts';

/**
 * `npm run test:clients`, once a release: compares the table of newer values in schema/FRONTEND.md with the code of each generator.
 * Arguments are names of generators; all without any. Ends with 1 if a row is wrong or could not be tried.
 */

const sdl = deskSdl();
const schema = buildSchema(sdl);
const pages = ['README.md', 'schema/README.md', 'schema/FRONTEND.md'];
const documents = pages
  .flatMap((page) => operationsOf(readPage(page)))
  .map((text) => parse(text))
  .filter((document) => validate(schema, document).length === 0);

/** Runs commands in a folder, with a program and the Node of this process first on PATH. The error of one that fails has its stderr. */
async function sh(commands: string, cwd: string, program?: Program): Promise<string> {
  const found = program && find(program);
  const paths = [...(found ? [found] : []), process.execPath].map((path) => dirname(path));
  const env = { ...process.env, PATH: [...paths, process.env['PATH']].join(delimiter) };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', commands], { cwd, env });
  return stdout;
}

/** Copies the files of a column into a folder that git ignores and where packages are found. Installed packages stay. */
async function prepare({ name, files, config, module }: Column): Promise<string> {
  const folder = join(ROOT, 'dist/clients', name);
  await rm(join(folder, 'desk'), { recursive: true, force: true });
  await mkdir(join(folder, 'desk'), { recursive: true });
  await writeFile(join(folder, 'desk/schema.graphql'), sdl);
  const operations = documents.flatMap(({ definitions }) => definitions);
  const text = module
    ? module(operations.filter((one) => one.kind === Kind.OPERATION_DEFINITION))
    : documents.map(({ loc }) => loc?.source.body).join('\n');
  await writeFile(join(folder, 'desk', module ? 'operations.ts' : 'operations.graphql'), text);
  await cp(join(import.meta.dirname, files), folder, { recursive: true });
  if (config) await writeFile(join(folder, config[0]), JSON.stringify(config[1]));
  return folder;
}

const rows = readPage('schema/FRONTEND.md').rowsOf('generator', 'newer enum value', 'newer type');
/** The printed text for a cell of the table. */
const SEEN: Readonly<Record<string, string>> = {
  text: 'REVIEW',
  'your `default`': 'other',
  '`UNKNOWN__`': 'UNKNOWN__',
};
const seen = (cell = '') => SEEN[cell] ?? cell;

/** Returns the verdict on the row of a column: undefined if it is right. */
async function problemOf(column: Column, urls: readonly string[]): Promise<string | undefined> {
  const { name, program, build, run } = column;
  if (program && !find(program)) return hint(program);
  const folder = await prepare(column);
  await sh(`exec >&2\n${build}`, folder, program);
  const printed = (await sh(`${run} ${urls.join(' ')}`, folder, program)).trim();
  const [, action, type] = rows.find(([cell]) => cell?.includes(name)) ?? [];
  const expected = `CHALLENGE CaptchaFailed\n${seen(action)} CaptchaFailed\n${seen(type)} ${seen(type)}`;
  return printed === expected ? undefined : `expected\n${expected}\nbut got\n${printed}`;
}

const app = await startInSandboxMode();
/** The answers of a newer subgraph, with another action, and with other types. */
const newer = await Promise.all([
  startUpstream(passOnTo(app.url, (answer) => answer.replaceAll('"CHALLENGE"', '"REVIEW"'))),
  startUpstream(passOnTo(app.url, (answer) => answer.replaceAll(/"(DeviceFingerprint|CaptchaFailed)"/g, '"$1Next"'))),
]);
const urls = [app.graphqlUrl, ...newer.map(({ url }) => `${url}/graphql`)];
const named = process.argv.slice(2);
for (const column of COLUMNS.filter(({ name }) => named.length === 0 || named.includes(name))) {
  const problem = await problemOf(column, urls).catch((error: Error) => error.message);
  process.stdout.write(`${column.name}: ${problem ?? 'as the page says'}\n`);
  if (problem !== undefined) process.exitCode = 1;
}
await Promise.all([app, ...newer].map(({ stop }) => stop()));
