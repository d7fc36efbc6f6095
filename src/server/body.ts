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
export async function readJsonBody(request: IncomingMessage, maxBytes: number, share: BodyShare): Promise<unknown> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new RequestRefused(415, 'Send the request with content-type application/json.');
  const bytes = await readBytes(request, maxBytes, share);
  const text = decodeUtf8(bytes);
  const json = text === undefined ? undefined : parseJson(text);
  if (json === undefined) throw new RequestRefused(400, 'The body is not JSON in UTF-8.');
  return json;
}

function readBytes(request: IncomingMessage, maxBytes: number, share: BodyShare): Promise<Buffer> {
  const tooLarge = () => new RequestRefused(413, `The body is larger than ${maxBytes} bytes.`, { connection: 'close' });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge());
  // Events cost half as much as an asynchronous iterator.
  return new Promise((resolve, reject) => {
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
      .on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
      .on('error', reject);
  });
}

function overloaded(): RequestRefused {
  const headers = { connection: 'close', 'retry-after': '1' };
  return new RequestRefused(503, ERROR_CATALOGUE.OVERLOADED.message, headers, 'OVERLOADED');
}
