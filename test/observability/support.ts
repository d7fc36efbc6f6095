import { onTestFinished } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import { type Behaviour, type Hostile, startHostile } from '../support/hostile.ts';

/** A line of the log. */
type Line = Readonly<Record<string, unknown>>;

/** Every line so far. */
export function linesOf({ logged }: Pick<TestApp, 'logged'>): Line[] {
  return logged()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The lines that tell of an operation. */
export function operationsOf(app: Pick<TestApp, 'logged'>): Line[] {
  return linesOf(app).filter(({ msg }) => msg === 'operation');
}

/** The lines that may wake somebody. */
export function alarmsOf(app: Pick<TestApp, 'logged'>): Line[] {
  return linesOf(app).filter(({ level }) => level !== 'info' && level !== 'debug');
}

/** The app with its sandbox, until the test is over. */
export async function startSandboxed(overrides: Partial<Config> = {}): Promise<TestApp> {
  const app = await startInSandboxMode(overrides);
  onTestFinished(app.stop);
  return app;
}

/** The app against an upstream for everything that behaves like this, until the test is over. */
export async function startAgainst(
  behave: Behaviour,
  overrides: Partial<Config> = {},
): Promise<{ app: TestApp; upstream: Hostile }> {
  const upstream = await startHostile(behave);
  onTestFinished(upstream.stop);
  const { url } = upstream;
  const app = await startInLiveMode({ GLB: url, NA: url, EU: url }, overrides);
  onTestFinished(app.stop);
  return { app, upstream };
}

/** Sends a GraphQL request with these headers, and reads the answer to its end. */
export async function send(
  { graphqlUrl }: Pick<TestApp, 'graphqlUrl'>,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
): Promise<{ status: number; text: string }> {
  const response = await fetch(graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal,
  });
  return { status: response.status, text: await response.text() };
}

/** Asks about each of these tokens, under an alias of its own. */
export function aboutTokens(tokens: readonly string[]): string {
  const fields = tokens.map((token, index) => `a${index}: deviceFingerprint(token: "${token}") { __typename }`);
  return `{ ${fields.join(' ')} }`;
}
