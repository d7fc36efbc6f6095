import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { composeShopVariant } from '../supergraph/compose.ts';
import { SECRETS, subgraphHeaders } from '../supergraph/test-secrets.ts';
import { startTestSupergraph } from '../supergraph/test-supergraph.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { startReplicas } from './replicas.ts';

/** The company graph as a router finds it: each subgraph behind a relay that keeps what it received, and a login with its keys. */

/** What the file for each router says about the login. */
const [ISSUER, AUDIENCE] = ['https://login.example/', 'shop'];

export type Graph = Awaited<ReturnType<typeof startGraph>>;

export async function startGraph() {
  const supergraph = await startTestSupergraph({
    // The default, which every router has to outwait.
    fingerprintTimeoutMs: 3_000,
    trustedHeaders: {
      subject: 'x-user-id',
      scopes: 'x-user-scopes',
      metadata: { ipAddr: { header: 'x-client-ip' }, accountId: { header: 'x-user-id' } },
    },
  });
  /** What a test lets happen on the way to our subgraph. */
  const way = { isBroken: false, isSilent: false, status: 200, left: 0 };
  const relays = await Promise.all(
    Object.entries(supergraph.subgraphs).map(async ([name, url]) => {
      const isOurs = name === 'device-trust';
      const relay = await startUpstream(async ({ headers, body }, response) => {
        if (isOurs && way.isBroken) return void response.destroy();
        if (isOurs && way.isSilent) return;
        if (isOurs && way.status !== 200) return sendJson(response, way.status, { errors: [] });
        const client = new AbortController();
        response.once('close', () => {
          if (!response.writableFinished) client.abort();
        });
        const answer = await fetch(url, {
          method: 'POST',
          // The files send one secret. Each subgraph of the example has its own.
          headers: { ...forwarded(headers), ...(!isOurs && subgraphHeaders(name)) },
          body,
          signal: client.signal,
        }).catch(() => undefined);
        if (!answer) way.left += 1;
        else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
      });
      return [name, url, relay] as const;
    }),
  );
  const throughRelays = (sdl: string) =>
    relays.reduce((text, [, url, relay]) => text.replaceAll(url, `${relay.url}/graphql`), sdl);
  const ours = relays.find(([name]) => name === 'device-trust')?.[2];
  if (!ours) throw new Error('expected our subgraph in the company graph, but got none');
  const login = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwks = { keys: [{ ...login.publicKey.export({ format: 'jwk' }), kid: 'login', alg: 'ES256', use: 'sig' }] };
  const loginServer = await startUpstream((_request, response) => sendJson(response, 200, jwks));
  return {
    ...supergraph,
    /** Two replicas of our subgraph, without a relay. Each fails its readiness for 2 s before it stops, as by default. */
    startReplicas: () => startReplicas(() => supergraph.startSubgraph({ shutdownGraceMs: 2_000 })),
    way,
    secret: SECRETS['device-trust'],
    supergraphSdl: throughRelays(supergraph.supergraphSdl),
    /** The contract variant for browsers. */
    shopSdl: throughRelays(await composeShopVariant(supergraph.subgraphs, SECRETS)),
    /** The address of each subgraph, for a composer of its own. */
    addresses: Object.fromEntries(relays.map(([name, , relay]) => [name, `${relay.url}/graphql`])),
    /** Everything that reached our subgraph. */
    received: ours.received,
    login: { publicKey: login.publicKey, jwksUrl: `${loginServer.url}/jwks.json` },
    /** A token of the login, with these claims changed. */
    token: (claims: object = {}, key: KeyObject = login.privateKey) => tokenOf(claims, key),
    forget: () => {
      supergraph.asked.length = 0;
      for (const [, , relay] of relays) relay.received.length = 0;
      Object.assign(way, { isBroken: false, isSilent: false, status: 200, left: 0 });
    },
    stop: async () => {
      await supergraph.stop();
      await Promise.all([...relays.map(([, , relay]) => relay.stop()), loginServer.stop()]);
    },
  };
}

/** The headers that are about the request, and not about its connection. */
function forwarded(headers: ReceivedRequest['headers']): Record<string, string> {
  const { host, connection, 'content-length': length, 'accept-encoding': encoding, ...rest } = headers;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, `${value}`]));
}

function tokenOf(claims: object, key: KeyObject): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const all = { sub: 'user-1', scope: 'risk:read', iss: ISSUER, aud: AUDIENCE, iat: now, exp: now + 3_600, ...claims };
  return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'login', typ: 'JWT' }).sign(key);
}

/** The same claims without a signature. */
export function unsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
