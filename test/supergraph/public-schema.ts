import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DocumentNode, parse } from 'graphql';
import { documentOf } from '../../src/graphql/schema.ts';
import { SLICES } from '../../src/slices.ts';
import { withoutRisk } from './compose.ts';

/** What the shop sees: the three subgraphs composed, without what federation needs, and without what is tagged `risk`. */
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
