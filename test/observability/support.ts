import type { Config } from '../../src/settings/variables.ts';
import { startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import { type Behaviour, type Hostile, startHostile } from '../support/hostile.ts';
import { json, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';

/** A log line. */
type Line = Readonly<Record<string, unknown>>;

/** Every log line so far. */
export function linesOf({ logged }: Pick<TestApp, 'logged'>): Line[] {
  return logged()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** The log lines of operations. */
export function operationsOf(app: Pick<TestApp, 'logged'>): Line[] {
  return linesOf(app).filter(({ msg }) => msg === 'operation');
}

/** The log lines at WARN and above. */
export function warningsOf(app: Pick<TestApp, 'logged'>): Line[] {
  return linesOf(app).filter(({ level }) => level !== 'info' && level !== 'debug');
}

/** Starts the app with its sandbox, and stops it after the test. */
export const startSandboxed = (overrides: Partial<Config> = {}) => untilEnd(startInSandboxMode(overrides));

/** An app with one upstream for both services, and what stops both. */
interface Started {
  readonly app: TestApp;
  readonly upstream: Hostile;
  readonly stop: () => Promise<void>;
}

/** Starts the app with one upstream for both services that behaves like this to calls, and perhaps otherwise to probes. */
export async function runAgainst(
  behave: Behaviour,
  overrides: Partial<Config> = {},
  probe?: Behaviour,
): Promise<Started> {
  const upstream = await startHostile(behave, probe && { probe });
  const app = await startInLiveMode(upstream.url, overrides);
  const stop = async () => {
    await app.stop();
    await upstream.stop();
  };
  return { app, upstream, stop };
}

/** The same for one test, after which both are stopped. */
export const startAgainst = (...how: Parameters<typeof runAgainst>) => untilEnd(runAgainst(...how));

/** Sends a GraphQL request with these headers, and reads the whole response. */
export async function send(
  { graphqlUrl }: Pick<TestApp, 'graphqlUrl'>,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<{ status: number; text: string }> {
  return request(graphqlUrl, { ...json(JSON.stringify(body), headers), signal });
}
