import { createApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config/parser.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { composeSupergraph } from './compose.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { startFrontend } from './frontend.ts';
import { startHiveGateway } from './gateways.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { problemsOf, readPorts } from './ports.ts';
import { ORDERS_SERVICE, ROUTER_SECRET, TRUSTED_HEADERS } from './subgraph-headers.ts';
import { startUsers } from './users.ts';

/**
 * A whole company graph in one process: the sandbox, this subgraph, its neighbours, a gateway and a page that asks it.
 * The gateway listens on PORT (4000), the three subgraphs and then the page on the ports that follow; with PORT=0 and
 * SANDBOX_PORT=0 all of them are free ones.
 */

const closers: (() => Promise<void>)[] = [];

/** The last one that started stops first, so that no server loses those that it asks. */
async function stop(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
}

async function start(): Promise<string> {
  const { gatewayPort, devicePort, usersPort, ordersPort, pagePort, sandboxPort } = readPorts(process.env);
  // Beside a gateway that composes and plans, an event loop that is late says nothing about the load.
  const shared = { MAX_EVENT_LOOP_DELAY_MS: '10000', SHUTDOWN_GRACE_MS: '0' };
  // The gateway says who is signed in, and the attestation names this person.
  const trusted = {
    TRUSTED_HEADERS: JSON.stringify(TRUSTED_HEADERS),
    ROUTER_SECRETS: ROUTER_SECRET,
    SERVICES: JSON.stringify([ORDERS_SERVICE]),
  };
  const own = { PORT: String(devicePort), ADMIN_PORT: '0', SANDBOX_PORT: String(sandboxPort), ...trusted, ...shared };
  const app = await createApp(
    parseConfig({ UPSTREAM_MODE: 'sandbox', ...own }, () => ''),
    await createLogger({ level: 'info', pretty: true }),
  );
  closers.push(app.stop);
  const users = await startUsers(usersPort);
  closers.push(users.stop);
  const jwksUrl = new URL('/.well-known/jwks.json', app.url).href;
  const attestation = { jwksUrl, issuer: SANDBOX_ATTESTATION.issuer, ...ORDERS_AUDIENCE };
  const deviceTrust = { url: app.graphqlUrl, secret: ORDERS_SERVICE.secret };
  const orders = await startOrders({ attestation, deviceTrust, port: ordersPort });
  closers.push(orders.stop);
  const subgraphs = { 'device-trust': app.graphqlUrl, users: users.url, orders: orders.url };
  const page = await startFrontend(`${app.sandboxUrls?.GLB}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`, pagePort);
  closers.push(page.stop);
  const gateway = await startHiveGateway(await composeSupergraph(subgraphs), gatewayPort, page.origin);
  closers.push(gateway.stop);
  page.use(gateway.url);

  const sandboxes = Object.entries(app.sandboxUrls ?? {}).map(([region, url]) => [`sandbox ${region}`, url]);
  const addresses = [...Object.entries(subgraphs), ...sandboxes].map(([name, url]) => `  ${name}: ${url}`);
  const body = JSON.stringify({ query: CROSS_SUBGRAPH_QUERY.replace(/\s+/g, ' ') });
  return `
A page that asks the supergraph is at ${page.origin}
The supergraph is at ${gateway.url}, with GraphiQL for a browser. Behind it:
${addresses.join('\n')}

Who else ordered from the devices that a customer ordered from?

curl -s ${gateway.url} -H 'content-type: application/json' -d '${body}'

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
