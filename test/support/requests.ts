import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

/** How tests talk to a server: a GraphQL operation, a JSON body, any request, or bytes on a socket. */

/** What came back over HTTP. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came, for searching it. */
  readonly text: string;
}

/** What a GraphQL client sees. */
export interface GraphqlAnswer extends HttpAnswer {
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape of its question, which each test knows and asserts.
  readonly data: any;
  readonly errors: readonly GraphqlError[] | undefined;
}

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly retryable: boolean };
}

/** An operation with its variables. */
export interface Operation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Sends any request, and reads the answer to its end. A redirect is not followed. */
export async function request(url: string, init: RequestInit = {}): Promise<HttpAnswer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** The options of a POST with this text as its JSON body, for `request` and for `fetch`. */
export function json(body: string, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
}

/** Posts this text as a JSON body. Rejects unless the answer is JSON. */
export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphqlAnswer> {
  const answer = await request(url, json(body, headers));
  const { data, errors } = JSON.parse(answer.text);
  return { ...answer, data, errors };
}

/** Sends one operation, as a router would. Rejects unless the answer is JSON. */
export function ask(
  graphqlUrl: string,
  query: string,
  variables: Operation['variables'] = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphqlAnswer> {
  return post(graphqlUrl, JSON.stringify({ query, variables }), headers);
}

/** Sends one operation on a connection of its own, and gives what disconnects, whatever came back until then. */
export function startOperation(
  graphqlUrl: string,
  operation: Operation,
  headers: OutgoingHttpHeaders = {},
): () => void {
  const sent = httpRequest(graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    // No pool: disconnecting must close the connection.
    agent: false,
  });
  // Disconnecting is an error to this side.
  sent.on('error', () => {});
  sent.end(JSON.stringify(operation));
  return () => void sent.destroy();
}

/** A bare connection to a server. Whoever opens one destroys its socket, or waits until the server closed it. */
export interface Connection {
  readonly socket: Socket;
  /** Everything that has arrived so far. */
  readonly received: () => string;
  /** Everything that arrived until the connection was closed. A reset counts as closed. */
  readonly closed: Promise<string>;
}

/** The bytes of a POST of this JSON to `/graphql`, with further lines of headers as they are written. */
export function postBytes(body: string, ...lines: readonly string[]): string {
  const head = ['POST /graphql HTTP/1.1', 'host: x', 'content-type: application/json', ...lines];
  return `${head.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`;
}

/** Opens a bare connection to the server at this address, and sends these bytes if there are any. */
export function openConnection(url: string, bytes = ''): Connection {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  const closed = new Promise<string>((resolve) => {
    socket.on('error', () => {}).once('close', () => resolve(text));
  });
  if (bytes) socket.write(bytes);
  return { socket, received: () => text, closed };
}

/** Sends these bytes, and gives everything that arrives until the server closes the connection. */
export function sendBytes(url: string, bytes: string): Promise<string> {
  return openConnection(url, bytes).closed;
}
