import { Writable } from 'node:stream';
import { pino } from 'pino';
import { type App, createApp } from '../../src/app.ts';
import type { Config, LiveUpstreams } from '../../src/config/config.ts';
import { parseConfig } from '../../src/config/parser.ts';
import { loadCompiler } from '../../src/graphql/document-cache.ts';
import { LOGGER_OPTIONS } from '../../src/observability/logger.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';

/** The real app in this process, on free ports, with its log kept. Whoever starts one stops it. */
export interface TestApp extends App {
  /** Every log line so far. */
  readonly logged: () => string;
}

const { fingerprintTimeoutMs, captchaTimeoutMs, captchaFailOpen, limits, load, logHashKey, otlpEndpoint } = parseConfig(
  { UPSTREAM_MODE: 'sandbox' },
  () => '',
);

/** The defaults of the configuration, but for what a test needs: free ports, no secret to send, no wait at the end. */
export const DEFAULTS: Omit<Config, 'upstreams'> = {
  host: '127.0.0.1',
  port: 0,
  fingerprintTimeoutMs,
  captchaTimeoutMs,
  captchaFailOpen,
  limits,
  // A test's clients and upstreams run in this process as well, so that its event loop may be late for no fault of ours.
  load: { ...load, shutdownGraceMs: 0, eventLoopDelayMs: 10_000 },
  routerSecrets: [],
  logLevel: 'info',
  logHashKey,
  adminPort: 0,
  otlpEndpoint,
};

/** The app as `npm run dev` starts it: with the embedded sandbox. */
export function startInSandboxMode(overrides: Partial<Config> = {}): Promise<TestApp> {
  return start({ ...DEFAULTS, upstreams: { mode: 'sandbox', port: 0 }, ...overrides });
}

/** The app in live mode against whatever listens at these addresses, with the accounts of the sandbox. */
export function startInLiveMode(
  baseUrls: Readonly<Record<'GLB' | 'NA' | 'EU', string>>,
  overrides: Partial<Config> = {},
): Promise<TestApp> {
  const upstreams: LiveUpstreams = {
    mode: 'live',
    applications: SANDBOX_APPLICATIONS.map((row) => ({ ...row, baseUrl: baseUrls[row.region] })),
    captchas: SANDBOX_CAPTCHAS.map((row) => ({ ...row, baseUrl: baseUrls[row.region] })),
  };
  return start({ ...DEFAULTS, upstreams, ...overrides });
}

async function start(config: Config): Promise<TestApp> {
  // So that the third time is the one at which a document is compiled, and not a later one.
  await loadCompiler();
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const app = await createApp(config, pino({ ...LOGGER_OPTIONS, level: config.logLevel }, sink));
  return { ...app, logged: () => lines.join('') };
}
