import type { SealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { columns } from '../routers/columns.ts';
import { startGraph } from '../routers/graph.ts';
import { ROUTER_SECRET } from './processes.ts';

/**
 * A company's graph and its router in a process of their own: the first router that is installed if WITH_ROUTERS is set, otherwise
 * Hive Gateway. Our subgraph is elsewhere. One in this process only gives the schema, and judged the orders that are in the shop.
 */

export interface RouterReport {
  readonly name: string;
  readonly url: string;
  /** Of a person who may see risk. */
  readonly headers: Readonly<Record<string, string>>;
}

/** An executable is ended by then. Some gateways take 10 s for more. */
const END_MS = 500;

process.once(
  'message',
  async ({ ours, sealingKeys }: { readonly ours: string; readonly sealingKeys: readonly SealingKey[] }) => {
    const graph = await startGraph({ sealingKeys });
    // It keeps all requests that a test may look at, which nobody does here.
    setInterval(graph.forget, 1_000);
    const [column] = columns();
    if (!column) throw new Error('expected a router, but got none');
    const { url, stop } = await column.start(graph, graph.supergraphSdl, { secret: ROUTER_SECRET, ours });
    const end = () => {
      setTimeout(() => process.exit(), END_MS);
      void stop();
    };
    process.once('SIGTERM', end).once('disconnect', end);
    const headers = { authorization: `Bearer ${await graph.token()}` };
    process.send?.({ name: column.name, url, headers } satisfies RouterReport);
  },
);
