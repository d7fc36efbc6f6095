import { createHash, randomBytes } from 'node:crypto';

/** The identifiers of a query's answer (fingerprint document, 2.4 and 2.5). */

/** Start of 2025, in milliseconds: the time of every analysis lies within the fifty days that follow it. */
const ANALYSES_BEGIN_MS = Date.UTC(2025, 0, 1);

/** Identifies the analysis of a token for an application: the same two always give the same id. */
export function requestId(publicKey: string, deviceToken: string): string {
  // As JSON, so that no other pair of key and token can give the same text.
  const digest = sha256(JSON.stringify([publicKey, deviceToken]));
  // Its time comes from the digest as well: the id has to be a valid UUID v7 and yet not depend on the clock.
  return `req_${uuidV7(ANALYSES_BEGIN_MS + digest.readUInt32BE(0), digest.subarray(4))}`;
}

/** Identifies one query: new on every call, and ordered by time. */
export function eventId(): string {
  return `evt_${uuidV7(Date.now(), randomBytes(10))}`;
}

/** Identifies the device that a token describes, in every application. */
export function deviceId(deviceToken: string): string {
  return sha256(deviceToken).toString('hex');
}

/** UUID version 7 (RFC 9562, 5.7) of a time in milliseconds and the first ten of the bytes. */
function uuidV7(milliseconds: number, bytes: Buffer): string {
  const uuid = Buffer.alloc(16);
  uuid.writeUIntBE(milliseconds, 0, 6);
  bytes.copy(uuid, 6, 0, 10);
  uuid.writeUInt8((uuid.readUInt8(6) & 0x0f) | 0x70, 6);
  uuid.writeUInt8((uuid.readUInt8(8) & 0x3f) | 0x80, 8);
  return uuid.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
