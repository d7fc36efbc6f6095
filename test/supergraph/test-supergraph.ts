import { setTimeout } from 'node:timers/promises';
import { startSandbox } from '../../src/sandbox/server.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { type Challenge, solveChallenge } from '../support/challenges.ts';
import { passOnTo, type ReceivedRequest, startUpstream, type TestUpstream } from '../support/upstream.ts';
import { composeSupergraph } from './compose.ts';
import { ORDERS, startOrders } from './orders.ts';
import { startUsers, USERS } from './users.ts';

/** Three running subgraphs, composed. Ours is in live mode, with an upstream that the test controls. */
export interface TestSupergraph {
  readonly supergraphSdl: string;
  /** Everything that our subgraph asked its upstreams. */
  readonly asked: TestUpstream['received'];
  /** What was done, in the order in which it was finished. */
  readonly done: ('captcha verified' | 'order placed')[];
  /**
   * Which upstreams reset every connection, those of probes as well: both, or only the captcha service, which still gives
   * challenges to pages.
   */
  readonly outage: { all: boolean; captcha: boolean };
  /** Lets both upstreams live, and waits until our subgraph knows. */
  recover(): Promise<void>;
  /** Changes each answer of the upstreams. A test sets it; at first it changes nothing. */
  alter: (answer: string) => string;
  /** The address that returns a solved captcha challenge. */
  readonly challengeUrl: string;
  /** A solved captcha challenge, as the widget hands it to a page. */
  solve(): Promise<Challenge>;
  stop(): Promise<void>;
}

/** A customer with this many orders, placed from five devices in turn. */
export const FIFTY = 50;
export const BULK_BUYER = 'user-bulk';
const BULK = Array.from({ length: FIFTY }, (_, i) => ({
  id: `bulk-${i}`,
  item: 'Pen',
  status: 'PAID' as const,
  customerId: BULK_BUYER,
  deviceToken: `sandbox:web#${i % 5}`,
}));

/** How long a verification takes here, in ms: so long that anything that does not wait for it is finished before. */
const VERIFICATION_MS = 50;

export async function startTestSupergraph(): Promise<TestSupergraph> {
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const passOn = passOnTo(sandbox.urls.GLB, (answer) => supergraph.alter(answer));
  const outage = { all: false, captcha: false };
  const isDown = ({ url }: ReceivedRequest) => outage.all || (outage.captcha && url.startsWith('/validate'));
  const upstream = await startUpstream(
    async (request, response) => {
      if (isDown(request)) {
        response.destroy();
        return;
      }
      // Each call gets a connection of its own, because a reset of one that was used before shows nothing.
      response.setHeader('connection', 'close');
      if (request.url.startsWith('/validate')) {
        await setTimeout(VERIFICATION_MS);
        supergraph.done.push('captcha verified');
      }
      await passOn(request, response);
    },
    (probe, response) => (isDown(probe) ? void response.destroy() : passOnTo(sandbox.urls.GLB)(probe, response)),
  );
  const { url } = upstream;
  const app = await startInLiveMode({ GLB: url, NA: url, EU: url });
  const bulkBuyer = { id: BULK_BUYER, name: 'Bulk', orderIds: BULK.map(({ id }) => id) };
  const users = await startUsers(0, [...USERS, bulkBuyer]);
  const orders = await startOrders(0, [...ORDERS, ...BULK], () => supergraph.done.push('order placed'));
  const supergraph: TestSupergraph = {
    supergraphSdl: await composeSupergraph({
      'device-trust': app.graphqlUrl,
      users: users.url,
      orders: orders.url,
    }),
    asked: upstream.received,
    done: [],
    outage,
    alter: (answer) => answer,
    challengeUrl: `${url}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`,
    solve: () => solveChallenge(url),
    recover: async () => {
      Object.assign(outage, { all: false, captcha: false });
      while (await isInOutage(app)) await setTimeout(50);
    },
    stop: async () => {
      await Promise.all([users.stop(), orders.stop(), app.stop()]);
      await upstream.stop();
      await sandbox.stop();
    },
  };
  return supergraph;
}

async function isInOutage(app: TestApp): Promise<boolean> {
  const { samples } = await readMetrics(app);
  return samples.some(
    ({ name, labels, value }) => name === 'device_trust_upstream_health' && labels['state'] === 'outage' && value === 1,
  );
}
