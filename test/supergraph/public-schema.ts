import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeServices } from '@theguild/federation-composition';
import { type DocumentNode, parse } from 'graphql';

/** The SDL that a frontend sees: the three subgraphs composed, without what federation needs or keeps inaccessible. */
export function publicSdl(): string {
  const { errors = [], publicSdl } = composeServices([
    { name: 'device-trust', typeDefs: read('../../schema/*.graphql') },
    { name: 'users', typeDefs: read('users.graphql') },
    { name: 'orders', typeDefs: read('orders.graphql') },
  ]);
  if (!publicSdl) throw new Error(`expected a public schema, but got:\n${errors.join('\n')}`);
  return publicSdl;
}

function read(pattern: string): DocumentNode {
  const files = globSync(pattern, { cwd: import.meta.dirname }).sort();
  return parse(files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('\n'));
}
