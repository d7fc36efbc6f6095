import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeServices } from '@theguild/federation-composition';
import { type DocumentNode, parse } from 'graphql';
import { withoutRisk } from './compose.ts';

/** What the two pages see: the three subgraphs composed, without what federation needs or keeps inaccessible. */

/** The SDL for the analyst's desk: everything. */
export function deskSdl(): string {
  const { errors = [], publicSdl } = composeServices(services());
  if (!publicSdl) throw new Error(`expected a public schema, but got:\n${errors.join('\n')}`);
  return publicSdl;
}

/** The SDL for the shop: without what is tagged `risk`. */
export function shopSdl(): string {
  return withoutRisk(services()).publicSdl;
}

function services() {
  return [
    { name: 'device-trust', typeDefs: read('../../schema/*.graphql') },
    { name: 'users', typeDefs: read('users.graphql') },
    { name: 'orders', typeDefs: read('orders.graphql') },
  ];
}

function read(pattern: string): DocumentNode {
  const files = globSync(pattern, { cwd: import.meta.dirname }).sort();
  return parse(files.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('\n'));
}
