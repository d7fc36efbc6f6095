import { createHash } from 'node:crypto';
import { v7 as uuidV7 } from 'uuid';

/** The identifiers in the response to a query (fingerprint document, 2.4 and 2.5). */

/** The start of 2025, in ms since 1970. The time of each analysis lies in the fifty days that follow it. */
const FIRST_ANALYSIS_MS = Date.UTC(2025, 0, 1);

/** The id of the analysis of a token for an application. The same key and token always give the same id. */
export function requestId(publicKey: string, deviceToken: string): string {
  // As JSON, so that no other pair of key and token can give the same text.
  const digest = sha256(JSON.stringify([publicKey, deviceToken]));
  // A UUID v7 begins with a time. It comes from the digest as well, because the clock would make each id a new one.
  return `req_${uuidV7({ msecs: FIRST_ANALYSIS_MS + digest.readUInt32BE(0), random: digest.subarray(4) })}`;
}

/** The id of one query: new for each, and ordered by time. */
export function eventId(): string {
  return `evt_${uuidV7()}`;
}

/** The id of the device that a token describes: the same for every application. */
export function deviceId(deviceToken: string): string {
  return sha256(deviceToken).toString('hex');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
