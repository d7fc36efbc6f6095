import type { IncomingMessage, RequestListener } from 'node:http';
import type { SandboxRegion } from './accounts.ts';
import { answerIssue, answerValidation } from './captcha.ts';
import type { ChallengeStore } from './challenges.ts';
import { refusal } from './envelopes.ts';
import { answerQuery } from './fingerprint.ts';
import { type Answer, readBody, send } from './http.ts';

/** Serves both services as the node of one region does. Nothing is logged: requests carry tokens and secrets. */
export function createRequestListener(region: SandboxRegion, challenges: ChallengeStore): RequestListener {
  return async (request, response) => {
    const hangUp = new AbortController();
    response.once('close', () => hangUp.abort());
    // A rejection is a client that hung up, who hears nothing, or a mistake in here, which is a server error.
    const answer = await route(request, region, challenges, hangUp.signal).catch(() => refusal(500));
    if (!hangUp.signal.aborted) send(response, answer);
  };
}

async function route(
  request: IncomingMessage,
  region: SandboxRegion,
  challenges: ChallengeStore,
  hangUp: AbortSignal,
): Promise<Answer> {
  const { method, headers } = request;
  const { path, query } = splitTarget(request.url ?? '');
  const contentType = headers['content-type'];
  const publicKey = publicKeyIn(path);

  if (method === 'POST' && publicKey !== undefined) {
    const { authorization } = headers;
    const { remoteAddress } = request.socket;
    const body = () => readBody(request);
    return answerQuery({ region, publicKey, authorization, contentType, remoteAddress, readBody: body, hangUp });
  }
  if ((method === 'POST' || method === 'GET') && path === '/validate') {
    const body = await readBody(request);
    return answerValidation({ region, method, contentType, query, body }, challenges);
  }
  if (method === 'POST' && path === '/sandbox/challenges') return answerIssue(region, query, challenges);
  return refusal(404);
}

/** Split by hand: the URL class would resolve `..` and so turn one public key's path into another path. */
function splitTarget(target: string): { path: string; query: URLSearchParams } {
  const mark = target.indexOf('?');
  if (mark < 0) return { path: target, query: new URLSearchParams() };
  return { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark)) };
}

/** The decoded public key of a query's path; undefined for other paths and for broken percent-encoding. */
function publicKeyIn(path: string): string | undefined {
  const encoded = /^\/api\/v2\/fp_query\/([^/]+)$/.exec(path)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
