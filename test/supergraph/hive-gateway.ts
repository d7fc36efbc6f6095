import {
  createGatewayRuntime,
  type GatewayConfigSupergraph,
  type GatewayPlugin,
  type UnifiedGraphHandler,
} from '@graphql-hive/gateway-runtime';
import { generateKeyPair, jwtVerify, SignJWT } from 'jose';
import type { SignedIn } from '../../deploy/router/hive-gateway.ts';
import { startUpstream, type TestUpstream } from '../support/upstream.ts';
import { listen, type Running } from './listen.ts';
import { ROUTER_SECRET } from './subgraph-headers.ts';

/** Hive Gateway with the configuration that a platform team copies, in front of a supergraph. */

// The module reads the secret when it is loaded, as in the gateway's own process.
process.env['ROUTER_SECRET'] = ROUTER_SECRET;
const { gatewayConfig } = await import('../../deploy/router/hive-gateway.ts');
delete process.env['ROUTER_SECRET'];

const login = await generateKeyPair('ES256');

/** A token of the company's login for this person, as a page sends it. */
export function signIn(sub: string, scope: string): Promise<string> {
  return new SignJWT({ scope }).setProtectedHeader({ alg: 'ES256' }).setSubject(sub).sign(login.privateKey);
}

/** What the option `jwt` of Hive Gateway does, which the runtime alone does not have: claims of a token that was verified. */
const jwt: GatewayPlugin = {
  async onContextBuilding({ context, extendContext }) {
    const token = /^Bearer (.+)$/.exec(context.request.headers.get('authorization') ?? '')?.[1];
    if (token) extendContext({ jwt: await jwtVerify(token, login.publicKey) });
  },
};

type Propagate = NonNullable<
  NonNullable<GatewayConfigSupergraph<SignedIn>['propagateHeaders']>['fromClientToSubgraphs']
>;

/** The rule for the other subgraphs, which a platform team adds: they get to know who asks as well. */
const fromClientToSubgraphs: Propagate = (request) =>
  request.subgraphName === 'device-trust'
    ? gatewayConfig.propagateHeaders.fromClientToSubgraphs(request)
    : { 'x-user-id': request.context.jwt?.payload.sub, 'x-user-scopes': request.context.jwt?.payload.scope };

interface Options {
  /** Of the gateway itself, unless one is given. */
  readonly planner?: UnifiedGraphHandler | undefined;
  /** Settings that a test changes. */
  readonly changes?: Pick<GatewayConfigSupergraph, 'propagateHeaders' | 'transportEntries'>;
}

export async function startConfiguredGateway(
  supergraphSdl: string,
  { planner, changes }: Options = {},
): Promise<Running> {
  const gateway = createGatewayRuntime({
    ...gatewayConfig,
    propagateHeaders: { fromClientToSubgraphs },
    // The estimate is shown, so that the figures of the documentation can be compared with it.
    demandControl: { ...gatewayConfig.demandControl, includeExtensionMetadata: true },
    plugins: () => [...gatewayConfig.plugins(), jwt],
    supergraph: supergraphSdl,
    logging: false,
    ...(planner && { unifiedGraphHandler: planner }),
    ...changes,
  });
  const { url, stop } = await listen(gateway, 0);
  return {
    url,
    stop: async () => {
      await stop();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

export interface Recorder extends TestUpstream {
  /** Whether it resets the connection of each request instead. */
  away: boolean;
}

/** Passes requests on with all their headers, and keeps what it has seen. */
export async function startRecorder(url: string): Promise<Recorder> {
  const upstream = await startUpstream(async ({ method, headers, body }, response) => {
    if (recorder.away) return void response.destroy();
    const { host, connection, 'content-length': length, 'accept-encoding': encoding, ...rest } = headers;
    const sent = Object.entries(rest).map(([name, value]): [string, string] => [name, `${value}`]);
    const answer = await fetch(url, { method, headers: sent, body });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
    response.end(await answer.text());
  });
  const recorder = Object.assign(upstream, { away: false });
  return recorder;
}
