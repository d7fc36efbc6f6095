import type { Socket } from 'node:net';
import { errors } from 'undici';

/**
 * Intercepts the reads of undici, which bounds no head and takes an unsolicited `100 Continue` for an error, although RFC 9110
 * (15.2) allows it. undici skips other interim responses except a 101, so a 100 becomes a 102 here.
 *
 * @param maxBytes the most that the socket may receive for one call; beyond it the socket is closed
 * @param maxLines the same in lines, which are heads, chunk framing and trailers: undici takes 160 bytes for each
 */
export function guardReads(socket: Socket, maxBytes: number, maxLines: number): void {
  const read = socket.read.bind(socket);
  // Safe: the arguments are passed on unchanged.
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let isNewCall = true;
  let bytesOfCall = 0;
  let linesOfCall = 0;
  /** The position in the head of an interim response; NaN once the final response has begun. */
  let at = 0;
  let lastFour = 0;
  // Reading the socket's `bytesWritten` would take longer than all of this.
  socket.write = (...given: unknown[]) => {
    isNewCall = true;
    return write(...given);
  };
  socket.read = (size?: number) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return null;
    // A write starts a new call.
    if (isNewCall) [isNewCall, bytesOfCall, linesOfCall, at] = [false, 0, 0, 0];
    bytesOfCall += chunk.length;
    for (let end = -1; linesOfCall <= maxLines; linesOfCall += 1) {
      end = chunk.indexOf(0x0a, end + 1);
      if (end < 0) break;
    }
    if (bytesOfCall > maxBytes || linesOfCall > maxLines) {
      socket.destroy(new errors.ResponseExceededMaxSizeError());
      return null;
    }
    for (let index = 0; at >= 0 && index < chunk.length; index += 1) {
      const byte = chunk[index] ?? 0;
      // A head may follow line breaks. The status is at 9 to 11 (RFC 9112, 2.2 and 4).
      if (at === 0 && (byte === 0x0d || byte === 0x0a)) continue;
      lastFour = (lastFour << 8) | byte;
      if (at === 11 && (lastFour & 0xffffff) === 0x313030) chunk[index] = 0x32;
      if (at === 9 && byte !== 0x31) at = Number.NaN;
      else at = lastFour === 0x0d0a0d0a ? 0 : at + 1;
    }
    return chunk;
  };
}
