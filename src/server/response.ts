import type { ServerResponse } from 'node:http';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors.ts';

/** Sends a whole response that nobody may store. Does nothing if the client has disconnected. */
export function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'cache-control': 'no-store', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** The content type of JSON that does not answer an operation. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** One error in the shape of a GraphQL response, for a request that did not become an operation. */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ errors: [{ message, extensions: { code, retryable: ERROR_CATALOGUE[code].retryable } }] });
}
