import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { findApplication, type SandboxRegion } from './accounts.ts';
import { DEVICES } from './devices.ts';
import { errorResponse, invalidRequest, invalidToken, success } from './envelopes.ts';
import type { JsonResponse } from './http.ts';
import { deviceId, eventId, requestId } from './ids.ts';
import { parseToken, type TokenMeaning, withTokenExpired } from './token.ts';
import type { UsedTokens } from './used-tokens.ts';
import { validateQuery } from './validation.ts';

/** An HTTP request for a query. */
interface QueryRequest {
  /** The region whose address received the request. */
  readonly region: SandboxRegion;
  readonly publicKey: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** The address of the connection. Any client can send a forwarded header, so the allow-list must not trust one. */
  readonly remoteAddress: string | undefined;
  /** Reads the body; undefined if it is too long. Called only for a caller with the right secret. */
  readonly readBody: () => Promise<Buffer | undefined>;
  /** Aborted when the client disconnects; ends a delay. */
  readonly abortSignal: AbortSignal;
}

/**
 * Answers one query (fingerprint document, 4). The document leaves the order of the checks open; README.md states this one:
 * the application, its secret, whether it is disabled, the allow-list, the fields, the token. Rejects only if the client
 * disconnects.
 */
export async function queryFingerprint(request: QueryRequest, usedTokens: UsedTokens): Promise<JsonResponse> {
  const application = findApplication(request.publicKey, request.region);
  if (!application) return errorResponse(404);
  if (!isBearer(request.authorization, application.secret)) return errorResponse(401);
  if (application.disabled || !isAllowed(request.remoteAddress, application.allowlist)) return errorResponse(403);

  const query = validateQuery(request.contentType, await request.readBody());
  if ('errors' in query) return invalidRequest(query.errors);

  const meaning = parseToken(query.deviceToken);
  if (!meaning) return invalidToken();
  if (meaning.delayMs > 0) await sleep(meaning.delayMs, undefined, { signal: request.abortSignal });
  return responseFor(meaning, application.publicKey, query.deviceToken, usedTokens);
}

function responseFor(
  meaning: TokenMeaning,
  publicKey: string,
  deviceToken: string,
  usedTokens: UsedTokens,
): JsonResponse {
  if ('error' in meaning) return meaning.error === 400 ? invalidToken() : errorResponse(meaning.error);
  const isExpired = meaning.isForOneQuery === true && usedTokens.use(deviceToken);
  return success({
    request_id: requestId(publicKey, deviceToken),
    event_id: eventId(),
    fp_detail: { device_id: deviceId(deviceToken), version: '1.0' },
    signals: isExpired ? withTokenExpired(meaning.signals) : meaning.signals,
    detail: DEVICES[meaning.device],
  });
}

/** Does the header have the secret (section 5)? The name of the scheme is case-insensitive (RFC 9110, 11.1). */
function isBearer(authorization: string | undefined, secret: string): boolean {
  const credential = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return credential !== undefined && timingSafeEqual(sha256(credential), sha256(secret));
}

/** Is the address on the list? Without a list every address is allowed. A dual-stack socket writes IPv4 as `::ffff:192.0.2.1`. */
export function isAllowed(remoteAddress: string | undefined, allowlist: readonly string[] | undefined): boolean {
  if (!allowlist) return true;
  return remoteAddress !== undefined && allowlist.includes(remoteAddress.replace(/^::ffff:/i, ''));
}

/** A digest, because timingSafeEqual compares only values of the same length. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
