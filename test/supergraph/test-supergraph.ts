import { setTimeout } from 'node:timers/promises';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Config } from '../../src/settings/variables.ts';
import { readMetrics } from '../observability/exposition.ts';
import { DEFAULTS, startInLiveMode, type TestApp } from '../support/app.ts';
import { FIRST_CAPTCHA_ID, solveChallenge } from '../support/challenges.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import { type Answer, passOnTo, startUpstream } from '../support/upstream.ts';
import { composeSupergraph } from './compose.ts';
import { ORDERS } from './orders/goods.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { createSigner, ISSUER } from './signer.ts';
import { TRUSTED_HEADERS } from './subgraph-headers.ts';
import { ORDERS_SERVICE, SECRETS } from './test-secrets.ts';
import { startUsers } from './users.ts';

/** Three running subgraphs, composed. Ours is in live mode, with an upstream that the test controls. */

/** What a test changes, and looks at. */
interface Controls {
  /** What was done, in the order in which it was finished. */
  readonly done: ('captcha verified' | 'order placed')[];
  /** While `all` is true, both upstreams reset every connection, those of probes as well. */
  readonly outage: { all: boolean };
  /** Changes each answer of the upstreams; at first it changes nothing. */
  alter: (answer: string) => string;
}

/** How long a verification takes here, in ms: so long that anything that does not wait for it is finished before. */
const VERIFICATION_MS = 50;

interface Options {
  readonly trustedHeaders?: Config['trustedHeaders'];
  /** The database of the order subgraph; by default it is kept in this process. */
  readonly ordersFile?: string;
  /** The deadline of `deviceFingerprint`, in ms; by default none that a test reaches. */
  readonly fingerprintTimeoutMs?: number;
}

/** For the order service, and only on behalf of a person. */
const AUDIENCE = { id: ORDERS_AUDIENCE.audience, actions: ['placeOrder'], subject: ORDERS_AUDIENCE.subject };

export async function startTestSupergraph(options: Options = {}) {
  const {
    trustedHeaders = TRUSTED_HEADERS,
    ordersFile = ':memory:',
    fingerprintTimeoutMs = DEFAULTS.fingerprintTimeoutMs,
  } = options;
  const outage = { all: false };
  const controls: Controls = { done: [], outage, alter: (answer) => answer };
  const sandbox = await startSandbox({ port: 0 });
  const passOn = passOnTo(sandbox.urls.GLB, (answer) => controls.alter(answer));
  const unlessDown =
    (answer: Answer): Answer =>
    (request, response) =>
      outage.all ? void response.destroy() : answer(request, response);
  const answer: Answer = async (request, response) => {
    // Each call gets a connection of its own, because a reset of one that was used before shows nothing.
    response.setHeader('connection', 'close');
    if (request.url.startsWith('/validate')) {
      await setTimeout(VERIFICATION_MS);
      controls.done.push('captcha verified');
    }
    // A call that nobody waits for any more can outlive the sandbox.
    await passOn(request, response).catch(() => response.destroy());
  };
  const upstream = await startUpstream(unlessDown(answer), unlessDown(passOnTo(sandbox.urls.GLB)));
  const { url, received: asked } = upstream;
  const signer = await createSigner();
  const startSubgraph = (overrides: Partial<Config> = {}) =>
    startInLiveMode(url, {
      attestation: { ...SANDBOX_ATTESTATION, issuer: ISSUER, audiences: [AUDIENCE] },
      attestationKeys: [signer.attestationKey],
      routerSecrets: [SECRETS['device-trust']],
      services: [ORDERS_SERVICE],
      trustedHeaders,
      sealingKeys: SEALING_KEYS,
      ...overrides,
    });
  const app = await startSubgraph({ fingerprintTimeoutMs });
  const users = await startUsers({ secret: SECRETS.users });
  const orders = await startOrders({
    attestation: { jwksUrl: `${app.url}/.well-known/jwks.json`, issuer: ISSUER, ...ORDERS_AUDIENCE },
    deviceTrust: { url: app.graphqlUrl, secret: ORDERS_SERVICE.secret },
    secret: SECRETS.orders,
    file: ordersFile,
    seeds: ORDERS,
    placed: () => controls.done.push('order placed'),
  });
  const subgraphs = { 'device-trust': app.graphqlUrl, users: users.url, orders: orders.url };
  return Object.assign(controls, {
    supergraphSdl: await composeSupergraph(subgraphs, SECRETS),
    /** Where each subgraph answers, without a gateway. */
    subgraphs,
    /** Starts another one like ours. */
    startSubgraph,
    /** Everything that our subgraph asked its upstreams. */
    asked,
    /** How many events the fingerprint service has counted in `asked`. */
    events: () => asked.filter(({ url }) => url.includes('/fp_query/')).length,
    /** Has the key with which attestations are signed. */
    signer,
    /** The address that returns a solved captcha challenge, and one as the widget hands it to a page. */
    challengeUrl: `${url}/sandbox/challenges?captcha_id=${FIRST_CAPTCHA_ID}`,
    solve: () => solveChallenge(url),
    /** Lets both upstreams live, and waits until our subgraph knows. */
    recover: async () => {
      outage.all = false;
      while (await isInOutage(app)) await setTimeout(50);
    },
    stop: async () => {
      await Promise.all([users.stop(), orders.stop(), app.stop()]);
      await upstream.stop();
      await sandbox.stop();
    },
  });
}

async function isInOutage(app: TestApp): Promise<boolean> {
  const { samples } = await readMetrics(app);
  const isOutage = ({ name, value, labels }: (typeof samples)[number]) =>
    name === 'device_trust_upstream_health' && value === 1 && labels['state'] === 'outage';
  return samples.some(isOutage);
}
