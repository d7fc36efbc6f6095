import type { IncomingMessage, ServerResponse } from 'node:http';

/** The little of HTTP that both services share. */

/** One answer: its HTTP status and the JSON object to send. */
export interface Answer {
  readonly status: number;
  readonly body: object;
}

/** The longest request body that is kept, in bytes: 256 KiB. Neither document states a limit. */
export const MAX_BODY_BYTES = 256 * 1024;

/**
 * The whole body, or undefined when it is longer than {@link MAX_BODY_BYTES}. The rest of a longer one is read and
 * dropped: a client that is still sending would otherwise see a reset instead of its answer. Rejects when the client
 * hangs up in the middle.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/** The media type of a Content-Type header, in lower case and without parameters such as charset; empty if absent. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1).join().trim().toLowerCase();
}

/** Sends an answer as JSON (fingerprint document, 4, rule 2; captcha document, 4, rule 3). */
export function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(body));
}
