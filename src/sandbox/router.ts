import type { IncomingMessage, RequestListener } from 'node:http';
import type { SandboxRegion } from './accounts.ts';
import { issueChallenge, validateChallenge } from './captcha.ts';
import type { ChallengeStore } from './challenges.ts';
import { errorResponse } from './envelopes.ts';
import { queryFingerprint } from './fingerprint.ts';
import { type JsonResponse, readBody, send } from './http.ts';
import type { UsedTokens } from './used-tokens.ts';

/** Serves both services for one region. Nothing is logged, because requests contain tokens and secrets. */
export function createRequestListener(
  region: SandboxRegion,
  challenges: ChallengeStore,
  usedTokens: UsedTokens,
): RequestListener {
  return async (request, response) => {
    const disconnect = new AbortController();
    response.once('close', () => disconnect.abort());
    // A rejection is a client that disconnected, which gets no response, or a bug in the sandbox, which is a server error.
    const result = await route(request, region, challenges, usedTokens, disconnect.signal).catch(() =>
      errorResponse(500),
    );
    if (!disconnect.signal.aborted) send(response, result);
  };
}

async function route(
  request: IncomingMessage,
  region: SandboxRegion,
  challenges: ChallengeStore,
  usedTokens: UsedTokens,
  abortSignal: AbortSignal,
): Promise<JsonResponse> {
  const { method, headers } = request;
  const { path, query } = splitTarget(request.url ?? '');
  const contentType = headers['content-type'];
  const publicKey = publicKeyIn(path);

  if (method === 'POST' && publicKey !== undefined) {
    const { authorization } = headers;
    const { remoteAddress } = request.socket;
    const body = () => readBody(request);
    return queryFingerprint(
      { region, publicKey, authorization, contentType, remoteAddress, readBody: body, abortSignal },
      usedTokens,
    );
  }
  if ((method === 'POST' || method === 'GET') && path === '/validate') {
    const body = await readBody(request);
    return validateChallenge({ region, method, contentType, query, body }, challenges);
  }
  if (method === 'POST' && path === '/sandbox/challenges') return issueChallenge(region, query, challenges);
  return errorResponse(404);
}

/** Without the URL class, which would resolve `..` and so turn the path of one public key into that of another. */
function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: new URLSearchParams() };
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark)) };
}

/** The public key in the path of a query, decoded; undefined for any other path and for broken percent-encoding. */
function publicKeyIn(path: string): string | undefined {
  const encoded = /^\/api\/v2\/fp_query\/([^/]+)$/.exec(path)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
