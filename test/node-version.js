import { readFileSync } from 'node:fs';

/** Runs before vitest: a Node that is too old loads neither vitest nor TypeScript, and would say so in a stack trace. */

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const { node } = process.versions;
const oldest = engines.node.replace('>=', '');
if (node.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  process.stderr.write(`expected Node ${oldest} or later, but got ${node} (${process.execPath}).\n`);
  process.exit(1);
}
