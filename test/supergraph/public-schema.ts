import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { composeServices } from '@theguild/federation-composition';
import { type DocumentNode, parse } from 'graphql';
import { documentOf } from '../../src/graphql/schema.ts';
import { SLICES } from '../../src/slices.ts';
import { withoutRisk } from './compose.ts';

/** What the two pages see: the three subgraphs composed, without what federation needs or keeps inaccessible. */

/** The SDL for the analyst's desk: everything. */
export function deskSdl(): string {
  const { errors = [], publicSdl } = composeServices(readSubgraphs());
  if (!publicSdl) throw new Error(`expected a public schema, but got:\n${errors.join('\n')}`);
  return publicSdl;
}

/** The SDL for the shop: without what is tagged `risk`. */
export function shopSdl(): string {
  return withoutRisk(readSubgraphs()).publicSdl;
}

/** The three subgraphs as their files say. The addresses are for composers that want one, and nobody asks them. */
export function readSubgraphs() {
  return [
    { name: 'device-trust', url: 'http://device-trust:4001/graphql', typeDefs: documentOf(SLICES) },
    { name: 'users', url: 'http://users:4002/graphql', typeDefs: read('users.graphql') },
    { name: 'orders', url: 'http://orders:4003/graphql', typeDefs: read('orders.graphql') },
  ];
}

function read(file: string): DocumentNode {
  return parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
}
