import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Reservation } from '../callers/shares.ts';
import { ERROR_CATALOGUE, type ErrorCode } from '../errors.ts';
import { countValues, parseJson } from '../runtime/json.ts';
import { hasBody } from './connection.ts';

type Headers = Readonly<Record<string, string>>;

/** The content type of JSON that does not answer an operation. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The capacity for bodies, and for unread answers. A container of 512 MiB has room for both several times. */
export const MAX_BYTES_IN_FLIGHT = 64 * 1024 * 1024;

/** A longer body is encoded first: node:http copies a text together with the headers, at three times its memory. */
const MAX_SENT_AS_TEXT = 65_536;

/** The least that each chunk of a body is charged, in bytes. */
const MIN_BYTES_PER_CHUNK = 256;
/** A body with more chunks than this must average `MIN_BYTES_PER_CHUNK`, because each chunk takes microseconds. */
const MAX_SMALL_CHUNKS = 4_096;
/** Bytes of memory for each value and key of a parsed body. `{"1":1},` takes 208 bytes, and `[` 56. */
const BYTES_PER_VALUE = 64;
/** The most that one body is charged: the share of a caller (a quarter), minus 4 MiB for its parsed document. */
const MAX_BODY_WEIGHT = (MAX_BYTES_IN_FLIGHT * 3) / 16;

/** How long an answer may make no progress before its connection is closed, in ms. */
const STALLED_MS = 10_000;
/** How often Node checks the progress, in ms. */
const STALL_CHECK_MS = 2_000;

/** Refuses an HTTP request before it becomes a GraphQL one. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly status: number;
  readonly headers: Headers;
  readonly code: ErrorCode;

  constructor(status: number, message: string, headers: Headers = {}, code: ErrorCode = 'BAD_REQUEST') {
    super(message);
    this.status = status;
    this.headers = headers;
    this.code = code;
  }
}

/** A refusal with the message that the catalogue has for its code. */
export function refusal(status: number, code: ErrorCode, headers?: Headers): RequestRefused {
  return new RequestRefused(status, ERROR_CATALOGUE[code].message, headers, code);
}

/** A refusal because the process, or the caller's share of it, is full. */
export function overloaded(): RequestRefused {
  return refusal(503, 'OVERLOADED', { 'retry-after': '1' });
}

/**
 * Reads a JSON body of at most `maxBytes`. `reservation` takes its bytes as they arrive, then the memory of its values.
 *
 * @throws RequestRefused with status 400, 413 or 415; with 503 if the caller's share has no room now
 */
export function readJsonBody(request: IncomingMessage, maxBytes: number, reservation: Reservation): Promise<unknown> {
  const tooLarge = () => new RequestRefused(413, `The body is larger than ${maxBytes} bytes.`);
  const tooManyChunks = () => new RequestRefused(413, `The body came in more than ${MAX_SMALL_CHUNKS} small pieces.`);
  // Events cost half as much as an asynchronous iterator. An error thrown here rejects the promise.
  return new Promise((resolve, reject) => {
    const { headers } = request;
    if (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json')
      throw new RequestRefused(415, 'Send the request with content-type application/json.');
    // RFC 9110, section 15.5.16. The caller's word is quoted only if it is short and plain.
    const [coding = 'another one'] = /^[\w-]{1,16}$/.exec(headers['content-encoding'] || 'identity') ?? [];
    if (coding.toLowerCase() !== 'identity') {
      const message = `Send the body without Content-Encoding: expected identity, but got ${coding}.`;
      throw new RequestRefused(415, message, { 'accept-encoding': 'identity' });
    }
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    const refuse = (error: RequestRefused) => {
      // The request is not destroyed, because the response still has to reach the client.
      request.off('data', onData).pause();
      reject(error);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) refuse(tooLarge());
      else if (chunks.length > Math.max(MAX_SMALL_CHUNKS, size / MIN_BYTES_PER_CHUNK)) refuse(tooManyChunks());
      else if (!reservation.take(Math.max(chunk.length, MIN_BYTES_PER_CHUNK))) refuse(overloaded());
    };
    request
      .on('data', onData)
      .on('end', () => {
        const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
        // The listeners would keep the chunks in memory until the operation ends.
        chunks.length = 0;
        reservation.release();
        // The charge is limited, so that a body alone always fits.
        const weight = Math.min(bytes.length + countValues(bytes) * BYTES_PER_VALUE, MAX_BODY_WEIGHT);
        if (!reservation.take(weight)) return reject(overloaded());
        const json = parseJson(bytes);
        if (json === undefined)
          reject(new RequestRefused(400, 'The body is not JSON in UTF-8, or an object in it has a key twice.'));
        else resolve(json);
      })
      .on('error', reject);
  });
}

/** Sends a response, not to be cached by default, unless the client has disconnected. An unread request body ends the connection. */
export function send(
  response: ServerResponse,
  status: number,
  headers: Headers,
  body: string,
  bytes = Buffer.byteLength(body),
): void {
  if (response.destroyed || response.headersSent) return;
  if (hasBody(response.req) && !response.req.complete) response.setHeader('connection', 'close');
  response.writeHead(status, { 'cache-control': 'no-store', ...headers, 'content-length': bytes });
  if (bytes > MAX_SENT_AS_TEXT) response.end(Buffer.from(body));
  // A text with a byte for each character is ASCII, which need not be encoded.
  else response.end(body, bytes === body.length ? 'latin1' : 'utf8');
  if (response.writableLength > 0) closeIfStalled(response);
}

function closeIfStalled(response: ServerResponse): void {
  let checkedAt = 0;
  let stalledSince = 0;
  // This listener runs before Node sets its keep-alive timeout. Otherwise our timeout would end a later request of the connection.
  response.prependOnceListener('finish', () => response.req.socket.setTimeout(0));
  // Node calls this only if there was no progress since the last check.
  response.setTimeout(STALL_CHECK_MS, () => {
    const { socket } = response.req;
    const now = performance.now();
    // This check is late, because progress restarted the timer.
    if (now - checkedAt > 1.5 * STALL_CHECK_MS) stalledSince = now - STALL_CHECK_MS;
    checkedAt = now;
    if (now - stalledSince < STALLED_MS) socket.setTimeout(STALL_CHECK_MS);
    else socket.destroy();
  });
}

/** Releases an answer's reservation once the client has read the whole answer, or has disconnected. */
export function releaseWhenRead(answer: ServerResponse, { release }: Reservation): void {
  const { socket } = answer.req;
  if (answer.writableLength === 0 || socket.destroyed) {
    release();
    return;
  }
  const end = () => {
    release();
    socket.off('close', end);
  };
  // Node 22 emits no `close` for an answer that waits behind another answer on its connection.
  for (const emitter of [answer, socket]) emitter.once('close', end);
}

export function sendText(response: ServerResponse, status: number, text: string, headers: Headers = {}): void {
  send(response, status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }, `${text}\n`);
}

export function sendRefusal(response: ServerResponse, refused: RequestRefused): void {
  const { status, headers } = refused;
  send(response, status, { ...headers, 'content-type': JSON_TYPE }, JSON.stringify(errorResult(refused)));
}

/** One error in the shape of a GraphQL response, for a request that is refused as a whole. */
export function errorResult({ code, message }: Pick<RequestRefused, 'code' | 'message'>) {
  return { errors: [{ message, extensions: { code, retryable: ERROR_CATALOGUE[code].retryable } }] };
}
