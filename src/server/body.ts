import type { IncomingMessage } from 'node:http';
import { parse } from 'secure-json-parse';

/** An HTTP request that is refused before it becomes a GraphQL one. */
export class RequestRefused extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'RequestRefused';
    this.status = status;
    this.headers = headers;
  }
}

/** A whole operation with its variables is a few KiB; 1,000 entity references stay below 100 KiB. */
const MAX_BODY_BYTES = 128 * 1024;

/**
 * Reads a JSON body of at most 128 KiB, without the keys that could reach an object's prototype.
 *
 * @throws RequestRefused with status 400, 413 or 415
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new RequestRefused(415, 'Send the request with content-type application/json.');
  const bytes = await readBytes(request);
  try {
    return parse(utf8.decode(bytes), null, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    // The parser's message quotes the body.
    throw new RequestRefused(400, 'The body is not JSON in UTF-8.');
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () =>
    new RequestRefused(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`, { connection: 'close' });
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Not destroyed on the way out: the answer still has to reach the caller.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
