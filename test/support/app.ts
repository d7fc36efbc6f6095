import { setTimeout } from 'node:timers/promises';
import { pino } from 'pino';
import { type App, createApp } from '../../src/app.ts';
import { loggerOptions } from '../../src/observability/logger.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { type Config, parseConfig } from '../../src/settings/variables.ts';
import { readMetrics } from '../observability/exposition.ts';

/** The real app in this process, on free ports, with its log kept. Whoever starts one stops it. */
export interface TestApp extends App {
  /** Every log line so far. */
  readonly logged: () => string;
}

/** A deadline that no test reaches unless it says so, however busy the machine is. */
const NO_DEADLINE_MS = 60_000;

/** The defaults of the configuration, apart from what a test needs: free ports, no router secret, no wait at the end, no deadline. */
export const DEFAULTS: Config = {
  ...parseConfig({ UPSTREAM_MODE: 'sandbox' }, () => ''),
  fingerprintTimeoutMs: NO_DEADLINE_MS,
  captchaTimeoutMs: NO_DEADLINE_MS,
  port: 0,
  adminPort: 0,
  sandboxPort: 0,
  shutdownGraceMs: 0,
};

/** A test's clients and upstreams run in this process as well, so its event loop may be late for no fault of ours. */
export const PATIENT = 10_000;

/** The app as `npm run dev` starts it, with the embedded sandbox. */
export function startInSandboxMode(overrides: Partial<Config> = {}): Promise<TestApp> {
  return start({ ...DEFAULTS, ...overrides }, PATIENT);
}

/** One for all regions, or one for each. */
type Addresses = string | Readonly<Record<'GLB' | 'NA' | 'EU', string>>;

/** The app in live mode against whatever listens at these addresses, with the accounts of the sandbox. */
export function startInLiveMode(addresses: Addresses, overrides: Partial<Config> = {}, maxDelayMs?: number) {
  return start(liveConfig(addresses, overrides), maxDelayMs);
}

/** Its configuration. */
export function liveConfig(addresses: Addresses, overrides: Partial<Config> = {}): Config {
  const { GLB, NA, EU } = typeof addresses === 'string' ? { GLB: addresses, NA: addresses, EU: addresses } : addresses;
  return {
    ...DEFAULTS,
    upstreamMode: 'live',
    fingerprintApplications: SANDBOX_APPLICATIONS,
    captchaConfigurations: SANDBOX_CAPTCHAS,
    fingerprintUrlGLB: GLB,
    fingerprintUrlNA: NA,
    fingerprintUrlEU: EU,
    captchaUrlGLB: GLB,
    captchaUrlNA: NA,
    captchaUrlEU: EU,
    ...overrides,
  };
}

async function start(config: Config, maxDelayMs = PATIENT): Promise<TestApp> {
  const { log, logged } = keepLog(config.logLevel);
  const app = await createApp(config, log, { maxDelayMs });
  // An upstream that a test takes away before the start is no reason to wait for it, unless the test says that all have to work.
  const enough = setTimeout(5_000, undefined, { ref: false });
  await (config.upstreamCheck === 'all' ? allWorking(app) : Promise.race([app.ready, enough]));
  return { ...app, logged };
}

/** A log of the app, and every line of it so far. */
export function keepLog(level = 'info') {
  const lines: string[] = [];
  const write = (line: string) => lines.push(Buffer.from(line).toString()); // a flat copy: pino's text keeps its pieces
  return { log: pino({ ...loggerOptions(), level }, { write }), logged: () => lines.join('') };
}

/** Waits until every account has worked. On a machine that is busy for 15 s the app becomes ready before. */
async function allWorking(app: App): Promise<void> {
  await app.ready;
  const isMissing = async () =>
    (await readMetrics(app)).samples.some(({ name, value }) => name.endsWith('_upstream_has_worked') && value === 0);
  while (await isMissing()) await setTimeout(100);
}
