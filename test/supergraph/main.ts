import { createApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config/parser.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { composeShopVariant, composeSupergraph } from './compose.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { startHiveGateway } from './gateways.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { startPageServer } from './page-server.ts';
import { asCustomer, createSessions } from './people.ts';
import { problemsOf, readPorts } from './ports.ts';
import { ORDERS_SERVICE, ROUTER_SECRET, TRUSTED_HEADERS } from './subgraph-headers.ts';
import { startUsers } from './users.ts';

/**
 * A whole company graph in one process: the sandbox, this subgraph, its neighbours, and two pages with a gateway each. The
 * shop's gateway has the graph without what is tagged `risk`, and gives nobody a scope. The gateway of the analyst's desk has
 * the whole graph, and asks for a session. The shop's gateway listens on PORT (4000), then come the three subgraphs, the shop,
 * the desk's gateway and the desk on the ports that follow; with PORT=0 and SANDBOX_PORT=0 all of them are free ones.
 */

const closers: (() => Promise<void>)[] = [];

/** The last one that started stops first, so that no server loses those that it asks. */
async function stop(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
}

async function start(): Promise<string> {
  const ports = readPorts(process.env);
  // Beside a gateway that composes and plans, an event loop that is late says nothing about the load.
  const shared = { MAX_EVENT_LOOP_DELAY_MS: '10000', SHUTDOWN_GRACE_MS: '0' };
  // The gateways say who is signed in, and the attestation names this person.
  const trusted = {
    TRUSTED_HEADERS: JSON.stringify(TRUSTED_HEADERS),
    ROUTER_SECRETS: ROUTER_SECRET,
    SERVICES: JSON.stringify([ORDERS_SERVICE]),
  };
  const listening = { PORT: String(ports.devicePort), ADMIN_PORT: '0', SANDBOX_PORT: String(ports.sandboxPort) };
  const app = await createApp(
    parseConfig({ UPSTREAM_MODE: 'sandbox', ...listening, ...trusted, ...shared }, () => ''),
    await createLogger({ level: 'info', pretty: true }),
  );
  closers.push(app.stop);
  const users = await startUsers(ports.usersPort);
  closers.push(users.stop);
  const jwksUrl = new URL('/.well-known/jwks.json', app.url).href;
  const attestation = { jwksUrl, issuer: SANDBOX_ATTESTATION.issuer, ...ORDERS_AUDIENCE };
  const deviceTrust = { url: app.graphqlUrl, secret: ORDERS_SERVICE.secret };
  const orders = await startOrders({ attestation, deviceTrust, port: ports.ordersPort });
  closers.push(orders.stop);
  const subgraphs = { 'device-trust': app.graphqlUrl, users: users.url, orders: orders.url };

  const challengeUrl = `${app.sandboxUrls?.GLB}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`;
  const shop = await startPageServer('shop', { port: ports.shopPort, challengeUrl });
  closers.push(shop.stop);
  const shopGateway = await startHiveGateway(await composeShopVariant(subgraphs), {
    identify: asCustomer,
    port: ports.shopGatewayPort,
    pageOrigin: shop.origin,
  });
  closers.push(shopGateway.stop);
  shop.use(shopGateway.url);

  const sessions = createSessions();
  const desk = await startPageServer('desk', { port: ports.deskPort, sessions });
  closers.push(desk.stop);
  const deskGateway = await startHiveGateway(await composeSupergraph(subgraphs), {
    identify: sessions.identify,
    port: ports.deskGatewayPort,
    pageOrigin: desk.origin,
    question: CROSS_SUBGRAPH_QUERY,
  });
  closers.push(deskGateway.stop);
  desk.use(deskGateway.url);

  const sandboxes = Object.entries(app.sandboxUrls ?? {}).map(([region, url]) => [`sandbox ${region}`, url]);
  const addresses = [...Object.entries(subgraphs), ...sandboxes].map(([name, url]) => `  ${name}: ${url}`);
  const body = JSON.stringify({ query: CROSS_SUBGRAPH_QUERY.replace(/\s+/g, ' ') });
  return `
The shop is at ${shop.origin}, and the analyst's desk at ${desk.origin}
The supergraph is at ${shopGateway.url} for customers, and at ${deskGateway.url} for staff,
both with GraphiQL for a browser. Behind them:
${addresses.join('\n')}

Who else ordered from the devices that a customer ordered from? The analyst may know:

SESSION=$(curl -s -X POST ${desk.origin}/sign-in/grace)
curl -s ${deskGateway.url} -H "authorization: Bearer $SESSION" -H 'content-type: application/json' -d '${body}'

`;
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  // Once: a second signal finds no handler and ends the process at once.
  process.once(signal, () => {
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}

try {
  process.stdout.write(await start());
} catch (error) {
  await stop();
  const lines = (await problemsOf(error, process.env)).map((sentence) => `  ${sentence}\n`);
  process.stderr.write(`The supergraph cannot start:\n${lines.join('')}`);
  process.exit(1);
}
