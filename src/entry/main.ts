import packageJson from '../../package.json' with { type: 'json' };

/** The build starts here, in `dist/server/main.js`. An older Node cannot even load the imports of `../main.ts`: it comes last. */

const { node } = process.versions;
const oldest = packageJson.engines.node.replace('>=', '');
if (node.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  process.stderr.write(`expected Node ${oldest} or later, but got ${node} (${process.execPath}).\n`);
  process.exit(1);
}
await import('../main.ts');
