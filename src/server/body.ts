import type { IncomingMessage } from 'node:http';
import { decodeUtf8, parseJson } from '../runtime/json.ts';
import { RequestRefused } from './refusal.ts';

/**
 * Reads a JSON body of at most `maxBytes`, without the keys that could reach an object's prototype.
 *
 * @throws RequestRefused with status 400, 413 or 415
 */
export async function readJsonBody(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new RequestRefused(415, 'Send the request with content-type application/json.');
  const bytes = await readBytes(request, maxBytes);
  const text = decodeUtf8(bytes);
  const json = text === undefined ? undefined : parseJson(text);
  if (json === undefined) throw new RequestRefused(400, 'The body is not JSON in UTF-8.');
  return json;
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new RequestRefused(413, `The body is larger than ${maxBytes} bytes.`, { connection: 'close' });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge());
  // Events cost half as much as an asynchronous iterator.
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= maxBytes) return;
      // The request is not destroyed, because the response still has to reach the client.
      request.off('data', onData).pause();
      reject(tooLarge());
    };
    request
      .on('data', onData)
      .on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
      .on('error', reject);
  });
}
