import type { Server } from 'node:http';
import { createServer, listenOn } from '../runtime/http.ts';
import {
  SANDBOX_APPLICATIONS,
  SANDBOX_CAPTCHAS,
  SANDBOX_REGIONS,
  type SandboxApplication,
  type SandboxCaptcha,
  type SandboxRegion,
} from './accounts.ts';
import { createChallengeStore } from './challenges.ts';
import { createRequestListener } from './router.ts';
import { createUsedTokens } from './used-tokens.ts';

/** A running sandbox. */
export interface Sandbox {
  /** The base address of each region, without a trailing slash. Each serves both services. */
  readonly urls: Readonly<Record<SandboxRegion, string>>;
  /** Every account, with the address of its region. The default ones are the first. */
  readonly applications: readonly (SandboxApplication & { readonly baseUrl: string })[];
  readonly captchas: readonly (SandboxCaptcha & { readonly baseUrl: string })[];
  /** A POST here returns a solved challenge of the default captcha id. */
  readonly challengeUrl: string;
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
  const urls = { GLB, NA, EU };
  return {
    urls,
    applications: SANDBOX_APPLICATIONS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
    captchas: SANDBOX_CAPTCHAS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
    challengeUrl: `${GLB}/sandbox/challenges?captcha_id=${SANDBOX_CAPTCHAS[0]?.captchaId}`,
    stop,
  };
}

/** Closes a server and its connections. A server that does not listen makes `close` fail, which does not matter here. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
