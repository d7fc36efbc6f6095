import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { findApplication, type SandboxRegion } from './accounts.ts';
import { DEVICES } from './devices.ts';
import { invalidRequest, invalidToken, refusal, success } from './envelopes.ts';
import type { Answer } from './http.ts';
import { deviceId, eventId, requestId } from './ids.ts';
import { parseToken, type TokenMeaning } from './token.ts';
import { validateQuery } from './validation.ts';

/** A query as it came over HTTP. */
interface QueryRequest {
  /** Region of the node that was asked. */
  readonly region: SandboxRegion;
  readonly publicKey: string;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** Address of the socket's other end: a forwarded header is anyone's word, so an allow-list must not read it. */
  readonly remoteAddress: string | undefined;
  /** The body, or undefined when it is too long. Called only once the caller is known. */
  readonly readBody: () => Promise<Buffer | undefined>;
  /** Aborted when the client hangs up; ends a delay. */
  readonly hangUp: AbortSignal;
}

/**
 * Answers one query (fingerprint document, 4). The order of the checks is a choice, written down in README.md: which
 * application, who asks, may they, what do they say, what does the token describe. Rejects only when the client hangs up.
 */
export async function answerQuery(request: QueryRequest): Promise<Answer> {
  const application = findApplication(request.publicKey, request.region);
  if (!application) return refusal(404);
  if (!isBearer(request.authorization, application.secret)) return refusal(401);
  if (application.disabled || !isAllowed(request.remoteAddress, application.allowlist)) return refusal(403);

  const query = validateQuery(request.contentType, await request.readBody());
  if ('errors' in query) return invalidRequest(query.errors);

  const meaning = parseToken(query.deviceToken);
  if (!meaning) return invalidToken();
  if (meaning.delayMs > 0) await sleep(meaning.delayMs, undefined, { signal: request.hangUp });
  return answerFor(meaning, application.publicKey, query.deviceToken);
}

function answerFor(meaning: TokenMeaning, publicKey: string, deviceToken: string): Answer {
  if ('error' in meaning) return meaning.error === 400 ? invalidToken() : refusal(meaning.error);
  return success({
    request_id: requestId(publicKey, deviceToken),
    event_id: eventId(),
    fp_detail: { device_id: deviceId(deviceToken), version: '1.0' },
    signals: meaning.signals,
    detail: DEVICES[meaning.device],
  });
}

/** Does the header carry the secret (section 5)? A scheme's name is case-insensitive (RFC 9110, 11.1). */
function isBearer(authorization: string | undefined, secret: string): boolean {
  const credential = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  return credential !== undefined && timingSafeEqual(sha256(credential), sha256(secret));
}

/** Is the caller on the list? No list admits everyone. On a dual-stack socket IPv4 looks like `::ffff:192.0.2.1`. */
export function isAllowed(remoteAddress: string | undefined, allowlist: readonly string[] | undefined): boolean {
  if (!allowlist) return true;
  return remoteAddress !== undefined && allowlist.includes(remoteAddress.replace(/^::ffff:/i, ''));
}

/** timingSafeEqual compares equal lengths only, which digests have. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
