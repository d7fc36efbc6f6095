import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { LRUCache } from 'lru-cache';
import { VALIDATE_TEMPLATE } from '../captcha/contract.ts';
import { type CaptchaSettings, SANDBOX_ATTESTATION_KEY } from '../captcha/settings.ts';
import { QUERY_TEMPLATE } from '../fingerprint/contract.ts';
import { SANDBOX_SEALING_KEY } from '../fingerprint/settings.ts';
import { answerDevelopmentPage, createServer, listenOn } from '../runtime/http.ts';
import { REGIONS, type Region } from '../upstream/settings.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_ATTESTATION, SANDBOX_CAPTCHAS } from './accounts.ts';
import { type IssuedChallenge, issueChallenge, validateChallenge } from './captcha.ts';
import { awaitFault, CHALLENGES_PATH, FAULTS_PATH, type Faults, KEYS_PATH, setFault, setKey } from './control.ts';
import { errorResponse, queryFingerprint } from './fingerprint.ts';
import { type JsonResponse, readBody, send } from './http.ts';
import { LOG_IN_PATH, logIn } from './log-in.ts';

/** The most challenges, tokens and proofs that are kept, each in some hundred bytes. Beyond it the oldest are evicted. */
const CAPACITY = 10_000;

/** The memory of both services, for all regions. */
const createMemory = () => ({
  challenges: new LRUCache<string, IssuedChallenge>({ max: CAPACITY }),
  /** As digests, because a token may be as long as a body. */
  usedTokens: new LRUCache<string, true>({ max: CAPACITY }),
  /** The ids of proofs that were used, as long as a proof can be valid. */
  usedProofs: new LRUCache<string, true>({ max: CAPACITY, ttl: 300_000 }),
  /** The secret of each application and the key of each captcha id. A tester can replace them. */
  keys: new Map([
    ...SANDBOX_APPLICATIONS.map(({ publicKey, secret }) => [publicKey, secret] as const),
    ...SANDBOX_CAPTCHAS.map(({ captchaId, captchaKey }) => [captchaId, captchaKey] as const),
  ]),
});
type Memory = ReturnType<typeof createMemory> & { readonly faults: Faults };

/** Starts both services, a server for each region from `port` on; 0 takes free ports. An error leaves no server behind. */
export async function startSandbox({ host = '127.0.0.1', port }: { host?: string; port: number }) {
  const memory = createMemory();
  const servers: Server[] = [];
  const stop = async () => {
    for (const server of servers) {
      // `close` fails for a server that does not listen, which does not matter here.
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    }
  };
  const urls = { GLB: '', NA: '', EU: '' };
  try {
    for (const [index, region] of REGIONS.entries()) {
      const server = createServer(listenerFor(region, { ...memory, faults: new Map() }));
      servers.push(server);
      urls[region] = await listenOn(server, host, port === 0 ? 0 : port + index);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    /** The base address of each region, without a trailing slash. Each serves both services. */
    urls,
    /** The settings of both services: their accounts, the default ones first, with addresses and keys. An operator may set `attestation`. */
    settingsFor: ({ attestation = SANDBOX_ATTESTATION }: Pick<CaptchaSettings, 'attestation'>) => ({
      fingerprintApplications: SANDBOX_APPLICATIONS,
      fingerprintUrlGLB: urls.GLB,
      fingerprintUrlNA: urls.NA,
      fingerprintUrlEU: urls.EU,
      sealingKeys: [SANDBOX_SEALING_KEY],
      captchaConfigurations: SANDBOX_CAPTCHAS,
      captchaUrlGLB: urls.GLB,
      captchaUrlNA: urls.NA,
      captchaUrlEU: urls.EU,
      attestation,
      attestationKeys: [SANDBOX_ATTESTATION_KEY],
    }),
    /** A POST here returns a solved challenge of the default captcha id. */
    challengeUrl: `${urls.GLB}${CHALLENGES_PATH}?captcha_id=${SANDBOX_CAPTCHAS[0]?.captchaId}`,
    /** Closes every connection, and resolves when all ports are free. Further calls do nothing. */
    stop,
  };
}

/** Serves both services for one region. Nothing is logged, because requests contain tokens and secrets. */
function listenerFor(region: Region, memory: Memory): RequestListener {
  return async (request, response) => {
    // Pages ask for challenges, in place of the captcha widget, and for logins.
    const isOfPage = [CHALLENGES_PATH, LOG_IN_PATH].some((path) => request.url?.startsWith(path));
    if (isOfPage && answerDevelopmentPage(request, response)) return;
    // `route` rejects if the client has disconnected, which gets no response, or by a bug in the sandbox, which is a 500.
    const result = await route(request, region, memory).catch(() => errorResponse(500));
    if (!result) response.destroy();
    else if (!response.destroyed) send(response, result);
  };
}

/** The response; undefined if the service is down, which resets the connection. */
async function route(request: IncomingMessage, region: Region, memory: Memory): Promise<JsonResponse | undefined> {
  const { method, url = '', headers } = request;
  // Without the URL class, which would resolve `..` and so turn the path of one public key into that of another.
  const [path = '', search = ''] = url.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  const publicKey = publicKeyIn(path);
  // The widget is part of the captcha service.
  const isCaptcha = path === VALIDATE_TEMPLATE || path === CHALLENGES_PATH;
  const service = isCaptcha ? 'captcha' : publicKey === undefined ? undefined : 'fingerprint';
  if (service && !(await awaitFault(service, memory.faults))) return undefined;
  if (method === 'POST' && publicKey !== undefined) return queryFingerprint(request, publicKey, region, memory);
  if ((method === 'POST' || method === 'GET') && path === VALIDATE_TEMPLATE)
    return validateChallenge(request, query, region, memory);
  if (method === 'POST' && path === LOG_IN_PATH) return logIn(await readBody(request), memory.usedProofs);
  if (method === 'POST' && path === CHALLENGES_PATH) return issueChallenge(query, region, memory.challenges);
  // A request of a page has an origin. A page must not change the sandbox on the machine of its reader.
  if (method === 'POST' && headers.origin === undefined && (path === FAULTS_PATH || path === KEYS_PATH)) {
    const form = Object.fromEntries(new URLSearchParams((await readBody(request))?.toString()));
    return path === FAULTS_PATH ? setFault(form, memory.faults) : setKey(form, memory.keys);
  }
  return errorResponse(404);
}

const QUERY_PATH = new RegExp(`^${QUERY_TEMPLATE.replace('{public_key}', '([^/]+)')}$`);

/** The public key in the path of a query, decoded; undefined for any other path and for broken percent-encoding. */
function publicKeyIn(path: string): string | undefined {
  const encoded = QUERY_PATH.exec(path)?.[1];
  try {
    return encoded === undefined ? undefined : decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
