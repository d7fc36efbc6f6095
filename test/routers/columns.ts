import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGatewayRuntime, type GatewayConfigSupergraph, type GatewayPlugin } from '@graphql-hive/gateway-runtime';
import { unifiedGraphHandler } from '@graphql-hive/router-runtime';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { parse, stringify } from 'yaml';
import { configFor, type SignedIn } from '../../deploy/router/hive-gateway.ts';
import { sdlOf } from '../supergraph/compose.ts';
import { listen } from '../supergraph/listen.ts';
import { subgraphHeaders } from '../supergraph/test-secrets.ts';
import { freePort } from '../support/ports.ts';
import { ROOT, startCommand } from '../support/process.ts';
import { find, type Program } from '../support/programs.ts';
import { json } from '../support/requests.ts';
import type { Graph } from './graph.ts';

/** Every router with its file of `deploy/router/`. The rules for `orders` are repeated for `users`, as a company repeats them for its services. */

/** A router that runs. */
export interface Router {
  /** Where clients ask. */
  readonly url: string;
  /** Where it listens itself, past its edge; undefined if it has none. */
  readonly pastEdge?: string;
  /** Everything that it has logged. */
  readonly logged: () => string;
  stop(): Promise<void>;
}

interface Changes {
  readonly secret?: string;
  readonly ours?: string;
}

export interface Column {
  readonly name: string;
  /** The variable that names its executable, and how to get that; undefined if npm brings it. */
  readonly program?: Program;
  /** Is there an edge in front, which verifies the JWT? */
  readonly hasEdge?: true;
  /** Does it differ from another column in its planner alone? Then only what a plan decides is tried. */
  readonly hasOtherPlanner?: true;
  /** Starts it with a supergraph, perhaps with another secret, and with another address of our subgraph. */
  start(graph: Graph, supergraphSdl: string, changes?: Changes): Promise<Router>;
}

export const HAPROXY = { variable: 'HAPROXY', command: 'haproxy', how: 'apt-get install -y haproxy' };

function found(program: Program): string {
  return find(program) ?? program.command;
}

const fileOf = (name: string) => join(ROOT, 'deploy/router', name);

/** The file of a router, with what a company adds. */
function merged(file: string, more: object): string {
  const config = parse(readFileSync(fileOf(file), 'utf8'));
  // The cost is shown, so that the figures of the documentation can be compared with it.
  if (config.demand_control) config.demand_control.operation_cost.expose_headers = { estimated: true };
  if (config.security) config.security.cost_control.expose_headers = true;
  const { subgraphs } = config.headers;
  // The worst rule that a company can have beside ours: the files say that it gives us nothing of a client.
  const everything = { matching: '.*' };
  config.headers.all = { request: [config.version ? { op: 'propagate', ...everything } : { propagate: everything }] };
  subgraphs.users = subgraphs.orders;
  return stringify({ ...config, ...more });
}

/** Starts an executable in a folder of its own that holds these files, and waits until it answers. */
async function run(
  program: string,
  words: readonly string[],
  { files, env, url, cwd }: { files: Record<string, string>; env: Record<string, string>; url: string; cwd?: string },
): Promise<Router> {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-router-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const at = (text: string) => text.replaceAll('{folder}', folder);
  const { PATH = '' } = process.env;
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, at(value)]));
  const running = startCommand([program, ...words.map(at)], { cwd: cwd ?? folder, env: { PATH, ...given } });
  const logged = () => running.stdout() + running.stderr();
  const stop = async () => {
    await running.stop();
    await rm(folder, { recursive: true, force: true });
  };
  let isOver = false;
  running.ended.finally(() => {
    isOver = true;
  });
  for (const until = Date.now() + 30_000; Date.now() < until && !isOver; ) {
    const isUp = await fetch(url, json('{"query":"{ __typename }"}'))
      .then((answer) => answer.ok)
      .catch(() => false);
    if (isUp) return { url, logged, stop };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await stop();
  throw new Error(`${program} did not start: ${logged().slice(-2_000)}`);
}

/** An edge before a router, with the file of HAProxy. */
async function startEdge({ login }: Graph, router: Router, edgeSecret: string): Promise<Router> {
  const port = await freePort();
  const edge = await run(found(HAPROXY), ['-f', fileOf('haproxy-edge.cfg')], {
    files: { 'login.pem': `${login.publicKey.export({ format: 'pem', type: 'spki' })}` },
    env: {
      EDGE_ADDRESS: `127.0.0.1:${port}`,
      ROUTER_ADDRESS: new URL(router.url).host,
      LOGIN_KEY: '{folder}/login.pem',
      EDGE_SECRET: edgeSecret,
    },
    url: `http://127.0.0.1:${port}${new URL(router.url).pathname}`,
  });
  const logged = () => router.logged() + edge.logged();
  return { ...edge, pastEdge: router.url, logged, stop: () => edge.stop().then(router.stop) };
}

/** The secret and the addresses of a graph with changes, and a free port. */
async function prepare({ secret, addresses }: Graph, changes: Changes = {}) {
  const { 'device-trust': ours = '' } = addresses;
  const at = (text: string) => text.replaceAll(ours, changes.ours ?? ours);
  return { secret, ...changes, at, port: await freePort() };
}

const APOLLO_PROGRAM = {
  variable: 'APOLLO_ROUTER',
  command: 'router',
  how: 'install protobuf-compiler and libprotobuf-dev, and cargo install --locked apollo-router@2.13.1',
};
/** As a company that traces has it, in every notation: a trace that gets past the edge is continued. */
const propagation = { trace_context: true, zipkin: true, jaeger: true };
const telemetry = { exporters: { tracing: { propagation } } };
const APOLLO: Column = {
  name: 'Apollo Router',
  program: APOLLO_PROGRAM,
  hasEdge: true,
  async start(graph, supergraphSdl, changes) {
    const { secret, at, port } = await prepare(graph, changes);
    const health = await freePort();
    const edgeSecret = 'a-secret-of-the-edge';
    const listen = ['--listen', `127.0.0.1:${port}`];
    const router = await run(
      found(APOLLO_PROGRAM),
      ['--config', '{folder}/router.yaml', '--supergraph', '{folder}/graph', ...listen],
      {
        files: {
          'router.yaml': merged('apollo-router.yaml', { health_check: { listen: `127.0.0.1:${health}` }, telemetry }),
          graph: at(supergraphSdl),
        },
        // The script is found from the folder in which the router starts.
        cwd: fileOf('.'),
        env: { ROUTER_SECRET: secret, EDGE_SECRET: edgeSecret, APOLLO_TELEMETRY_DISABLED: 'true' },
        url: `http://127.0.0.1:${port}/`,
      },
    );
    return startEdge(graph, router, edgeSecret);
  },
};

const HIVE_PROGRAM = {
  variable: 'HIVE_ROUTER',
  command: 'hive_router',
  how: 'cargo install --locked hive-router@0.2.0 --features graphiql',
};
const HIVE_ROUTER: Column = {
  name: 'Hive Router',
  program: HIVE_PROGRAM,
  async start(graph, supergraphSdl, changes) {
    const { secret, at, port } = await prepare(graph, changes);
    const jwt = {
      enabled: true,
      jwks_providers: [{ source: 'remote', url: graph.login.jwksUrl }],
      issuers: ['https://login.example/'],
      audiences: ['shop'],
      allowed_algorithms: ['ES256'],
    };
    const exporters = [{ kind: 'otlp', protocol: 'http', endpoint: 'http://127.0.0.1:9' }];
    return run(found(HIVE_PROGRAM), [], {
      files: {
        'router.yaml': merged('hive-router.yaml', { jwt, telemetry: { tracing: { exporters } } }),
        graph: at(supergraphSdl),
      },
      env: {
        ROUTER_SECRET: secret,
        HOST: '127.0.0.1',
        PORT: `${port}`,
        ROUTER_CONFIG_FILE_PATH: '{folder}/router.yaml',
        SUPERGRAPH_FILE_PATH: '{folder}/graph',
      },
      url: `http://127.0.0.1:${port}/graphql`,
    });
  },
};

/** What Cosmo's own composer makes of the subgraphs, once for all tests. */
let composed: Promise<string> | undefined;

async function composeForCosmo({ addresses, subgraphs }: Graph): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-wgc-'));
  for (const [name, url] of Object.entries(subgraphs))
    await writeFile(join(folder, `${name}.graphql`), await sdlOf(url, subgraphHeaders(name)));
  const graph = parse(readFileSync(fileOf('graph.yaml'), 'utf8'));
  for (const one of graph.subgraphs) one.routing_url = addresses[one.name];
  await writeFile(join(folder, 'graph.yaml'), stringify(graph));
  const words = ['-y', 'wgc@0.112.7', 'router', 'compose', '--input', 'graph.yaml', '--out', 'router.json'];
  await promisify(execFile)('npx', words, { cwd: folder, timeout: 240_000 });
  const text = readFileSync(join(folder, 'router.json'), 'utf8');
  await rm(folder, { recursive: true });
  return text;
}

const COSMO_PROGRAM = {
  variable: 'COSMO_ROUTER',
  command: 'cosmo-router',
  how: 'clone github.com/wundergraph/cosmo, tag router@0.341.0, and go build -o cosmo-router ./cmd/router in its folder router',
};
const COSMO: Column = {
  name: 'Cosmo Router',
  program: COSMO_PROGRAM,
  async start(graph, _supergraphSdl, changes) {
    const { secret, at, port } = await prepare(graph, changes);
    composed ??= composeForCosmo(graph);
    const jwks = [{ url: graph.login.jwksUrl, algorithms: ['ES256'], audiences: ['shop'] }];
    return run(found(COSMO_PROGRAM), [], {
      files: {
        'router.yaml': merged('cosmo.yaml', { authentication: { jwt: { jwks } } }),
        'router.json': at(await composed),
      },
      env: {
        ROUTER_SECRET: secret,
        LISTEN_ADDR: `127.0.0.1:${port}`,
        PROMETHEUS_ENABLED: 'false',
        CONFIG_PATH: '{folder}/router.yaml',
        EXECUTION_CONFIG_FILE_PATH: '{folder}/router.json',
      },
      url: `http://127.0.0.1:${port}/graphql`,
    });
  },
};

const hiveGateway = (name: string, planner: Pick<GatewayConfigSupergraph, 'unifiedGraphHandler'>): Column => ({
  name,
  async start(graph, supergraphSdl, changes) {
    const { secret, at } = await prepare(graph, changes);
    const { login } = graph;
    const keys = createRemoteJWKSet(new URL(login.jwksUrl));
    /** As the option `jwt` of Hive Gateway does it. */
    const verified: GatewayPlugin = {
      async onContextBuilding({ context, extendContext }) {
        const token = /^Bearer ([^ ,]+)$/i.exec(context.request.headers.get('authorization') ?? '')?.[1];
        if (token === undefined) return;
        const options = { issuer: 'https://login.example/', audience: 'shop', algorithms: ['ES256'] };
        const jwt = await jwtVerify(token, keys, options).catch(() => undefined);
        if (jwt) extendContext({ jwt });
      },
    };
    const config = configFor(secret);
    const { fromClientToSubgraphs } = config.propagateHeaders;
    const gateway = createGatewayRuntime<SignedIn>({
      ...config,
      ...planner,
      demandControl: { ...config.demandControl, includeExtensionMetadata: true },
      supergraph: at(supergraphSdl),
      logging: false,
      propagateHeaders: {
        fromClientToSubgraphs: (given) =>
          fromClientToSubgraphs({ ...given, subgraphName: given.subgraphName.replace('users', 'orders') }),
      },
      plugins: () => [...config.plugins(), verified],
    });
    const { url, stop } = await listen(gateway, 0);
    return { url, logged: () => '', stop: () => stop().then(() => gateway[Symbol.asyncDispose]()) };
  },
});

/** Those that npm brings. */
const GATEWAYS = [
  hiveGateway('Hive Gateway', {}),
  { ...hiveGateway('Hive Gateway with the planner in Rust', { unifiedGraphHandler }), hasOtherPlanner: true as const },
];

/** Those that somebody has built. */
export const ROUTERS = [APOLLO, HIVE_ROUTER, COSMO];

/** What can be tried here. `npm test` tries what npm brings, and `npm run test:routers` what it finds as well. */
export const columns = () =>
  [...(process.env['WITH_ROUTERS'] ? ROUTERS : []), ...GATEWAYS].filter(
    ({ program, hasEdge }) => (!program || find(program)) && (!hasEdge || find(HAPROXY)),
  );
