import type { IncomingMessage } from 'node:http';
import { ERROR_CATALOGUE } from '../errors.ts';
import { decodeUtf8, parseJson } from '../runtime/json.ts';
import type { BodyShare } from './body-budget.ts';
import { RequestRefused } from './refusal.ts';

/**
 * Reads a JSON body of at most `maxBytes`, without the keys that could reach an object's prototype.
 *
 * @param share takes each byte that arrives
 * @throws RequestRefused with status 400, 413 or 415; with 503 if all bodies together are too large at the moment
 */
export function readJsonBody(request: IncomingMessage, maxBytes: number, share: BodyShare): Promise<unknown> {
  const tooLarge = () => new RequestRefused(413, `The body is larger than ${maxBytes} bytes.`, { connection: 'close' });
  // Events cost half as much as an asynchronous iterator. What is thrown in here before the first event rejects the promise.
  return new Promise((resolve, reject) => {
    const { headers } = request;
    if (headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase() !== 'application/json')
      throw new RequestRefused(415, 'Send the request with content-type application/json.');
    if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes && share.take(chunk.length)) {
        chunks.push(chunk);
        return;
      }
      // The request is not destroyed, because the response still has to reach the client.
      request.off('data', onData).pause();
      reject(size > maxBytes ? tooLarge() : overloaded());
    };
    request
      .on('data', onData)
      .on('end', () => {
        const json = toJson(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
        if (json === undefined) reject(new RequestRefused(400, 'The body is not JSON in UTF-8.'));
        else resolve(json);
      })
      .on('error', reject);
  });
}

function toJson(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  return text === undefined ? undefined : parseJson(text);
}

function overloaded(): RequestRefused {
  const headers = { connection: 'close', 'retry-after': '1' };
  return new RequestRefused(503, ERROR_CATALOGUE.OVERLOADED.message, headers, 'OVERLOADED');
}
