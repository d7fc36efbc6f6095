import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors.ts';
import type { RequestRefused } from './refusal.ts';

/**
 * A body of more characters is encoded before it is sent. node:http joins a text with the headers and copies both, which is
 * cheaper for a small body, and takes three times the memory of a large one.
 */
const MAX_SENT_AS_TEXT = 65_536;

/** Sends a whole response that nobody may store. Does nothing if the client has disconnected. */
export function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  if (response.destroyed || response.headersSent) return;
  const content = body.length > MAX_SENT_AS_TEXT ? Buffer.from(body) : body;
  response.writeHead(status, { ...headers, 'cache-control': 'no-store', 'content-length': Buffer.byteLength(content) });
  response.end(content);
}

/** Sends a body that is the same for everyone, and that anyone may store for this many seconds. */
export function sendPublic(response: ServerResponse, contentType: string, body: string, maxAgeSeconds: number): void {
  if (response.destroyed) return;
  response.writeHead(200, {
    'content-type': contentType,
    'cache-control': `max-age=${maxAgeSeconds}`,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Sends one line of text. */
export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, `${text}\n`);
}

/** Sends a refusal in the shape of a GraphQL error. */
export function sendRefusal(response: ServerResponse, { status, code, message, headers }: RequestRefused): void {
  send(response, status, { ...headers, 'content-type': JSON_TYPE }, errorBody(code, message));
}

/** The content type of JSON that does not answer an operation. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** One error in the shape of a GraphQL response, for a request that did not become an operation. */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, retryable: ERROR_CATALOGUE[code].retryable } }] });
}
