import { gql } from 'graphql-tag';
import { expect } from 'vitest';
import type { RequestContext } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import type { Config } from '../../src/settings/variables.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { type HttpAnswer, post, postBytes, sendBytes } from '../support/requests.ts';
import { type Overrides, startServer } from '../support/server.ts';

/** Live mode with upstreams that nobody runs: port 9 is refused. */
export function startWithoutUpstreams(overrides: Partial<Config> = {}): Promise<TestApp> {
  return startInLiveMode('http://127.0.0.1:9', { upstreamCheck: 'off', ...overrides });
}

/** The bytes of an operation, which keeps its connection. */
export const OPERATION = postBytes('{"query":"{ __typename }"}');

/** What a process answers to the probes of an orchestrator. */
export function healthOf(url: string): Promise<[number, string][]> {
  return Promise.all(
    ['/healthz', '/readyz'].map(async (path): Promise<[number, string]> => {
      const response = await fetch(new URL(path, url));
      return [response.status, await response.text()];
    }),
  );
}

export const HEALTHY = [
  [200, 'alive\n'],
  [200, 'ready\n'],
];

/** Every refusal has the shape of a GraphQL error, and is never stored. */
export function expectRefusal({ status, headers, text }: HttpAnswer, expectedStatus: number): void {
  expect(status).toBe(expectedStatus);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(JSON.parse(text)).toEqual({
    errors: [{ message: expect.stringMatching(/^\S.*\.$/), extensions: { code: 'BAD_REQUEST', retryable: false } }],
  });
}

/** The same for a refusal as it came on the socket. */
export function expectRawRefusal(answer: string, expectedStatus: number): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${expectedStatus} `));
  expect(head.toLowerCase()).toContain('cache-control: no-store');
  expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST', retryable: false } }] });
}

/** A schema that answers who the resolvers think is asking. */
const typeDefs = gql`
  type Query { caller: String }
  type Thing @key(fields: "id") { id: ID! }
`;
const resolvers = {
  Query: {
    caller: (_: unknown, __: unknown, { caller }: RequestContext) =>
      JSON.stringify({ name: caller.name, subject: caller.subject, scopes: caller.scopes && [...caller.scopes] }),
  },
};
export const CALLER_QUERY = '{"query":"{ caller }"}';

/** Starts a server for `callerAt` and `callerOf`. Whoever starts one stops it. */
export function startServerOfCallers(options: Overrides) {
  return startServer(buildSchema([{ typeDefs, resolvers }]), options);
}

/** Who this server thinks is asking with these headers. */
export async function callerAt(graphqlUrl: string, headers: Readonly<Record<string, string>>) {
  const { status, data } = await post(graphqlUrl, CALLER_QUERY, headers);
  expect(status).toBe(200);
  return JSON.parse(data.caller);
}

/** Who this server thinks is asking with these lines of headers as they are written. The status, unless it is 200. */
export async function callerOf(graphqlUrl: string, lines: readonly string[]) {
  const answer = await sendBytes(graphqlUrl, postBytes(CALLER_QUERY, 'connection: close', ...lines));
  const [, body = ''] = answer.split('\r\n\r\n');
  return answer.startsWith('HTTP/1.1 200 ') ? JSON.parse(JSON.parse(body).data.caller) : answer.slice(9, 12);
}
