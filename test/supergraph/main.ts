import { readFileSync } from 'node:fs';
import { createApp } from '../../src/app.ts';
import { ConfigError } from '../../src/config/parser.ts';
import { GRAPHIQL_PATH } from '../../src/explorer.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { parseConfig } from '../../src/settings/variables.ts';
import { composeShopVariant, composeSupergraph } from './compose.ts';
import { explorerFor } from './explorer.ts';
import { startHiveGateway } from './gateways.ts';
import { ORDERS } from './orders/goods.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { startPageServer } from './page-server.ts';
import { asCustomer, createSessions } from './people.ts';
import { createSecrets, ordersService, TRUSTED_HEADERS } from './subgraph-headers.ts';
import { startUsers } from './users.ts';

/**
 * A whole company graph in one process: the sandbox, this subgraph, its neighbours, and two gateways. That of the shop, a page,
 * has the graph without what is tagged `risk`, and gives nobody a scope. That of the staff has the whole graph, asks for a
 * session, and serves Apollo Sandbox. They listen on PORT (4000) and the five ports that follow, and the sandbox on
 * SANDBOX_PORT; with PORT=0 and SANDBOX_PORT=0 all of them are free ones.
 */

async function start(): Promise<string> {
  const secrets = createSecrets();
  const service = ordersService(secrets);
  const config = parseConfig(
    {
      UPSTREAM_MODE: 'sandbox',
      PORT: process.env['PORT'] || '4000',
      SANDBOX_PORT: process.env['SANDBOX_PORT'],
      ADMIN_PORT: '0',
      RISK_POLICY_FILE: process.env['RISK_POLICY_FILE'],
      SHUTDOWN_GRACE_MS: '0',
      // The gateways say who is signed in, and the attestation names this person.
      TRUSTED_HEADERS: JSON.stringify(TRUSTED_HEADERS),
      ROUTER_SECRETS: secrets['device-trust'],
      SERVICES: JSON.stringify([service]),
    },
    (path) => readFileSync(path, 'utf8'),
  );
  const portAfter = (offset: number) => (config.port === 0 ? 0 : config.port + offset);
  const log = await createLogger({ level: 'warn', pretty: true });
  // Beside a gateway that composes and plans, an event loop that is late says nothing about the load.
  const app = await createApp({ ...config, port: portAfter(1) }, log, { maxDelayMs: 10_000 });
  const users = await startUsers({ secret: secrets.users, port: portAfter(2) });
  const { issuer } = SANDBOX_ATTESTATION;
  const orders = await startOrders({
    attestation: { jwksUrl: `${app.url}/.well-known/jwks.json`, issuer, ...ORDERS_AUDIENCE },
    deviceTrust: { url: app.graphqlUrl, secret: service.secret },
    secret: secrets.orders,
    port: portAfter(3),
    seeds: ORDERS,
  });
  const subgraphs = { 'device-trust': app.graphqlUrl, users: users.url, orders: orders.url };

  const challengeUrl = `${app.sandboxUrls?.GLB}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`;
  const shop = await startPageServer({ port: portAfter(4), challengeUrl });
  const forShop = {
    identify: asCustomer,
    secrets,
    port: portAfter(0),
    pageOrigin: shop.origin,
    isDevelopment: true,
  };
  const shopGateway = await startHiveGateway(await composeShopVariant(subgraphs, secrets), forShop);
  shop.use(shopGateway.url);

  const sessions = createSessions();
  const { identify } = sessions;
  const explorer = explorerFor(sessions, challengeUrl);
  const forStaff = { identify, secrets, port: portAfter(5), isDevelopment: true, explorer };
  const gateway = await startHiveGateway(await composeSupergraph(subgraphs, secrets), forStaff);

  return `
The shop:         ${shop.origin}
The supergraph:   ${gateway.url}
  by curl:        curl -s --noproxy '*' ${gateway.url} -H 'Authorization: Bearer ${sessions.signIn('grace')}' -H 'Content-Type: application/json' -d '{"query":"{ checkouts { judgement { decision { action } } } }"}'
Apollo Sandbox:   ${gateway.url} in a browser, as Grace, an analyst
GraphiQL:         ${new URL(GRAPHIQL_PATH, gateway.url)} has the same operations, and needs no internet
The shop's graph: ${shopGateway.url} for a page of your own, at http://localhost or http://127.0.0.1 with any port

`;
}

const TAKEN = 'End what uses this port, such as `npm run dev`, or set PORT and SANDBOX_PORT to others.';

// Nothing here is worth an orderly end.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));

try {
  process.stdout.write(await start());
} catch (error) {
  const { code, message } = Object(error);
  const isTaken = code === 'EADDRINUSE';
  const problem = error instanceof ConfigError ? error.problems.join('\n') : isTaken ? `${message}. ${TAKEN}` : message;
  process.stderr.write(`The supergraph cannot start: ${problem}\n`);
  process.exit(1);
}
