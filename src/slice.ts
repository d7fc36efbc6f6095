import type { GraphQLSchemaModule } from '@apollo/subgraph';
import type { DocumentNode } from 'graphql';
import type { CALLER_VARIABLES, CallerSettings } from './callers/settings.ts';
import type { Callers } from './callers/shares.ts';
import type { RuleInput } from './config/parser.ts';
import { address, type Table, type Values } from './config/values.ts';
import type { RequestFactory } from './graphql/context.ts';
import type { MetricsRegistry } from './observability/metrics.ts';
import type { SharedOptions, UpstreamClient } from './upstream/client.ts';
import { REGIONS, type Region } from './upstream/settings.ts';

/** One upstream service with everything that the subgraph has for it. A slice without any of its variables is off. */
export interface Slice<Rows extends Table = Table, Key = keyof Rows & string> {
  /** The name of its service in the log, in metrics and on the command line. */
  readonly name: string;
  /** Its SDL. Only one slice may define a root type; others extend it. */
  readonly typeDefs: DocumentNode;
  readonly resolvers: NonNullable<GraphQLSchemaModule['resolvers']>;
  readonly variables: Rows;
  /** The keys of two variables: its accounts, without which it is off, and their quota. */
  readonly accounts: Key;
  readonly quota: Key;
  /** Does its service get the client's metadata in trusted headers? Any slice may use the address, as a requester. */
  readonly usesMetadata?: boolean;
  /** Refuses variables that contradict each other. In the sandbox, accounts and keys are in no variable. */
  rules(input: RuleInput<Rows & typeof CALLER_VARIABLES>, isLive: boolean): void;
  /** Its features in use, such as `sealing: on`, for the line at the start. */
  summary(settings: Values<Rows> & CallerSettings & { readonly upstreamMode: string }): string[];
  /** The keys of variables that have no effect with these settings. */
  unused(settings: Values<Rows>): readonly Key[];
  start(options: StartOptions<Rows>): RunningSlice;
}

export interface StartOptions<Rows extends Table = Table> {
  readonly settings: Values<Rows> & CallerSettings;
  /** The options of its client that do not depend on the service, with the quota of its accounts. */
  readonly shared: SharedOptions;
  readonly registry: MetricsRegistry;
  readonly callers: Callers;
}

/** A slice that is on. Its client provides health, readiness, metrics and log lines. */
interface RunningSlice extends RequestFactory {
  readonly upstream: Pick<UpstreamClient, 'health' | 'close'>;
  /** The public keys of its proofs, as a JWK set in JSON; undefined if it makes no proofs. */
  readonly jwks?: string | undefined;
}

/** Refuses a region in use without an address, and an address that contains `path`, which our client adds. */
export function refuseAddresses(
  { values, isSet, refuse }: RuleInput<Table>,
  accounts: readonly { readonly region: Region }[],
  prefix: string,
  path: string,
): void {
  for (const region of REGIONS) {
    const key = prefix + region;
    const isMissing = accounts.some((account) => account.region === region) && !isSet(key);
    refuse(isMissing, key, address.expected, `nothing, although region ${region} is in use`);
    // The documents of the services print addresses with their paths.
    const hasPath = String(values[key]).includes(path);
    refuse(hasPath, key, `an address without ${path}, which is added to it`, 'one with it');
  }
}
