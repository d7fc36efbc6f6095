import type { Socket } from 'node:net';
import { errors } from 'undici';

/**
 * Intercepts the reads of undici, which limits neither lines nor interim responses, and takes an unsolicited `100 Continue` for an
 * error, although RFC 9110 (15.2) allows it. undici skips a 102, so a 100 becomes a 102 here.
 *
 * @param maxBytes the most that the socket may receive for one call; beyond it the socket is closed
 * @param maxLines the same limit in lines, because undici takes 160 bytes for each line of a head, chunk framing or trailers
 */
export function guardReads(socket: Socket, maxBytes: number, maxLines: number): void {
  const read = socket.read.bind(socket);
  // Safe: the arguments are passed on unchanged.
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let isNewCall = true;
  let bytesOfCall = 0;
  let linesOfCall = 0;
  /** The position in the head of a response; NaN once the status shows that the response is final. */
  let position = 0;
  let lastFour = 0;
  // Reading the socket's `bytesWritten` would take longer than this whole function.
  socket.write = (...given: unknown[]) => {
    isNewCall = true;
    return write(...given);
  };
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return null;
    // A write starts a new call.
    if (isNewCall) [isNewCall, bytesOfCall, linesOfCall, position] = [false, 0, 0, 0];
    bytesOfCall += chunk.length;
    for (let end = -1; linesOfCall <= maxLines; linesOfCall += 1) {
      end = chunk.indexOf(0x0a, end + 1);
      if (end < 0) break;
    }
    if (bytesOfCall > maxBytes || linesOfCall > maxLines) {
      socket.destroy(new errors.ResponseExceededMaxSizeError());
      return null;
    }
    for (let index = 0; position >= 0 && index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      // Line breaks may precede a head. Its status is at positions 9 to 11 (RFC 9112, 2.2 and 4).
      if (position === 0 && (byte === 0x0d || byte === 0x0a)) continue;
      lastFour = (lastFour << 8) | byte;
      if (position === 11 && (lastFour & 0xffffff) === 0x313030) chunk[index] = 0x32;
      if (position === 9 && byte !== 0x31) position = Number.NaN;
      else position = lastFour === 0x0d0a0d0a ? 0 : position + 1;
    }
    return chunk;
  };
}
