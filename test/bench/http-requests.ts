import type { Socket } from 'node:net';

/** Just enough HTTP/1.1 for an upstream that must not be what is measured. */

/** Passes on each request of a connection, head and body as one text, as soon as it is whole. */
export function readRequests(socket: Socket, take: (request: string) => void): void {
  let pending = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    pending += text;
    for (let end = endOfRequest(pending); end > 0; end = endOfRequest(pending)) {
      take(pending.slice(0, end));
      pending = pending.slice(end);
    }
  });
  // Whoever asks and is ended resets its connections.
  socket.on('error', () => {});
}

/** Where the first request ends; 0 while it is not all there. */
function endOfRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return 0;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1] ?? '0';
  const end = head + 4 + Number(length);
  return text.length < end ? 0 : end;
}
