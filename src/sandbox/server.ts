import type { Server } from 'node:http';
import { createServer, listenOn } from '../runtime/http.ts';
import { SANDBOX_REGIONS, type SandboxRegion } from './accounts.ts';
import { createChallengeStore } from './challenges.ts';
import { createRequestListener } from './router.ts';
import { createUsedTokens } from './used-tokens.ts';

/** A running sandbox. */
export interface Sandbox {
  /** The base address of each region, without a trailing slash. Each serves both services. */
  readonly urls: Readonly<Record<SandboxRegion, string>>;
  /** Closes every connection, and resolves when all ports are free. Further calls do nothing. */
  stop(): Promise<void>;
}

const CHALLENGE_LIFETIME_MS = 10 * 60 * 1000;

/**
 * Starts both upstream services, with a server for each region: GLB on `port`, NA and EU on the next two. Port 0 takes three
 * free ports. A captcha challenge expires after `challengeLifetimeMs`, by default ten minutes. Rejects with the error of the
 * socket if a server cannot listen; no other server keeps listening then.
 */
export async function startSandbox(options: {
  host: string;
  port: number;
  challengeLifetimeMs?: number;
}): Promise<Sandbox> {
  const { host, port, challengeLifetimeMs = CHALLENGE_LIFETIME_MS } = options;
  // One store for all regions, so that a challenge in the wrong region is recognised as one of another captcha id.
  const challenges = createChallengeStore(challengeLifetimeMs);
  const usedTokens = createUsedTokens();
  const servers = SANDBOX_REGIONS.map((region) => createServer(createRequestListener(region, challenges, usedTokens)));
  const stop = async () => {
    await Promise.all(servers.map(close));
  };

  const bound = await Promise.allSettled(
    servers.map((server, index) => listenOn(server, host, port === 0 ? 0 : port + index)),
  );
  const failure = bound.find((outcome) => outcome.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const [GLB = '', NA = '', EU = ''] = bound.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : ''));
  return { urls: { GLB, NA, EU }, stop };
}

/** Closes a server and its connections. A server that does not listen makes `close` fail, which does not matter here. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
