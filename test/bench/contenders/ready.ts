import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as undici from 'undici';

/**
 * Says where a contender answers, as one line of JSON.
 *
 * @throws Error if its undici is another one than the package of this project, whose version the report prints
 */
export function ready(url: string): void {
  const require = createRequire(import.meta.url);
  const wanted: string = JSON.parse(readFileSync('package.json', 'utf8')).dependencies.undici;
  const { version } = require('undici/package.json');
  if (version !== wanted || require('undici').Agent !== undici.Agent) {
    throw new Error(`expected undici ${wanted}, but got ${version} or one from elsewhere`);
  }
  process.stdout.write(`${JSON.stringify({ url, undici: version })}\n`);
}
