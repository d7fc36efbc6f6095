import type { Server } from 'node:http';
import { createServer, listenOn } from '../runtime/http.ts';
import { SANDBOX_REGIONS, type SandboxRegion } from './accounts.ts';
import { createChallengeStore } from './challenges.ts';
import { createRequestListener } from './router.ts';

/** A running sandbox. */
export interface Sandbox {
  /** Base address of each region's node, without a trailing slash; it serves both services. */
  readonly urls: Readonly<Record<SandboxRegion, string>>;
  /** Ends every connection and resolves once all ports are free. May be called again. */
  stop(): Promise<void>;
}

const CHALLENGE_LIFETIME_MS = 10 * 60 * 1000;

/**
 * Starts both upstream services, one listener a region: GLB on `port`, NA on the next one, EU on the one after; port 0
 * takes three free ones. An issued captcha challenge stays good for `challengeLifetimeMs` (ten minutes). Rejects with
 * the system's error if a listener cannot bind, and leaves none behind.
 */
export async function startSandbox(options: {
  host: string;
  port: number;
  challengeLifetimeMs?: number;
}): Promise<Sandbox> {
  const { host, port, challengeLifetimeMs = CHALLENGE_LIFETIME_MS } = options;
  // One store for the three nodes: a challenge that is shown to the wrong node must be recognised as another id's.
  const challenges = createChallengeStore(challengeLifetimeMs);
  const servers = SANDBOX_REGIONS.map((region) => createServer(createRequestListener(region, challenges)));
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

/** Also for a server that does not listen: what close reports then is what is wanted. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
