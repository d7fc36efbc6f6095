import { gql } from 'graphql-tag';
import { onTestFinished } from 'vitest';
import type { RequestContext } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { type Connection, openConnection, postBytes, sendBytes } from '../support/requests.ts';
import { type Overrides, startServer } from '../support/server.ts';
import { untilEnd } from '../support/until-end.ts';

/** A router and services, and a server of which they can hold as much as they may. */

export const SECRET = 'the-secret-of-the-router';
export const OPERATION = '{"query":"{ __typename }"}';
export const MB = 1024 * 1024;
const secretOf = (name: string) => `the-secret-of-${name}`;
export const SERVICES = ['orders', 'users', 'desk'].map((name) => ({ name, secret: secretOf(name), scopes: [] }));
export const ROUTER_AND_SERVICES = { routerSecrets: [SECRET], services: SERVICES };
const CREDENTIALS: Readonly<Record<string, string[]>> = {
  router: [`router-authorization: ${SECRET}`],
  ...Object.fromEntries(SERVICES.map(({ name, secret }) => [name, [`authorization: Bearer ${secret}`]])),
};

/** The bytes of a request of this caller. */
export const requestOf = (caller: string, body: string, ...more: readonly string[]) =>
  postBytes(body, ...(CREDENTIALS[caller] ?? []), ...more);

/** Opens a connection that is closed after the test. */
export function openUntilEnd(url: string, bytes = ''): Connection {
  const connection = openConnection(url, bytes);
  onTestFinished(() => void connection.socket.destroy());
  return connection;
}

/** The status of an answer as it came on the socket. */
export const statusIn = (answer: string) => Number(answer.slice(9, 12));
export const statusOf = async (url: string, caller: string, body = OPERATION) =>
  statusIn(await sendBytes(url, requestOf(caller, body, 'connection: close')));

/** A server of a schema whose operations last until the test ends them, and whose answers are as long as one asks for. */
export async function startHolding(options: Overrides) {
  const underWay = new Set<() => void>();
  const typeDefs = gql`
    type Query { wait(x: [String]): String  long(length: Int!): String }
    type Thing @key(fields: "id") { id: ID! }
  `;
  const wait = (_: unknown, __: unknown, { signal }: RequestContext) =>
    new Promise<void>((resolve) => {
      underWay.add(resolve);
      signal.addEventListener('abort', () => resolve());
    });
  const long = (_: unknown, { length }: { length: number }) => 'x'.repeat(length);
  const schema = buildSchema([{ typeDefs, resolvers: { Query: { wait, long } } }]);
  const { graphqlUrl, readMetrics } = await untilEnd(startServer(schema, { maxBodyBytes: 10 * MB, ...options }));
  return { url: graphqlUrl, underWay, readMetrics };
}
