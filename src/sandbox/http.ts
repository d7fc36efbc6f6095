import type { IncomingMessage, ServerResponse } from 'node:http';

export interface JsonResponse {
  readonly status: number;
  readonly body: object;
}

/** The longest request body that is read, in bytes: 1 MiB, more than the subgraph sends. Neither document states a limit. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Reads the body to its end, because a client that is still sending would see a reset; undefined if it is too long. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/** The media type of a Content-Type header in lower case, without parameters such as charset; empty if there is none. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1).join().trim().toLowerCase();
}

/** Sends the body as JSON (fingerprint document, 4, rule 2; captcha document, 4, rule 3). */
export function send(response: ServerResponse, { status, body }: JsonResponse): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
