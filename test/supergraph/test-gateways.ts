import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import type { Identify } from './people.ts';
import { SECRETS } from './test-secrets.ts';

/** Gateways in which tests say themselves who asks and with which scopes, as if a login had found that out. */

/** Its name, and what starts it for a supergraph. */
export type Gateway = readonly [string, (supergraphSdl: string) => Promise<Running>];

/** Without a word it is Ada, without a scope. */
export const asClaimed: Identify = (headerOf) => ({
  id: headerOf('x-user-id') ?? 'user-1',
  scopes: headerOf('x-user-scopes') ?? '',
});

/** The headers with which a test claims the scope that everything tagged `risk` needs. */
export const CLAIMED_SCOPE = { 'x-user-scopes': 'risk:read' } as const;

/** Hive Gateway with each of its planners: its own, and the one in Rust. */
export const HIVE_GATEWAYS = (
  [
    ['Hive Gateway', {}],
    ['Hive Gateway with the planner in Rust', { unifiedGraphHandler }],
  ] as const
).map(
  ([name, changes]): Gateway => [
    name,
    (supergraphSdl) => startHiveGateway(supergraphSdl, { identify: asClaimed, secrets: SECRETS, changes }),
  ],
);
