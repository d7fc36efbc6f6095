import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ANDROID } from '../faults/documented.ts';
import { startInLiveMode } from '../support/app.ts';
import { hang, reset, startHostile } from '../support/hostile.ts';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { json, request } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { queryForTokens, send, startSandboxed, warningsOf } from './support.ts';

/** A receiver of traces that fails has no effect on responses, the log, memory or the end of the process. */

async function startFailing(): Promise<string> {
  const server = await startUpstream((_request, response) => sendJson(response, 503, {}));
  onTestFinished(server.stop);
  return server.url;
}

async function startBroken(behave: typeof hang): Promise<string> {
  const server = await startHostile(behave);
  onTestFinished(server.stop);
  return server.url;
}

const RECEIVERS: readonly (readonly [string, () => Promise<string>])[] = [
  ['no process', async () => 'http://127.0.0.1:9'],
  ['a process that never responds', () => startBroken(hang)],
  ['a process that resets each connection', () => startBroken(reset)],
  ['a process that responds with 503', startFailing],
];

describe.each(RECEIVERS)('with %s as the receiver', (_who, start) => {
  test('responses are as usual, nothing is logged, and the app stops', async () => {
    const app = await startSandboxed({ otlpEndpoint: await start() });
    const begin = performance.now();
    for (let round = 0; round < 12; round += 1) {
      const { status, text } = await send(app, { query: queryForTokens(['sandbox:web', 'sandbox:ios']) });
      expect([status, JSON.parse(text).errors]).toEqual([200, undefined]);
      // Long enough for exports to start.
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(performance.now() - begin).toBeLessThan(4_000);
    const stopping = performance.now();
    await expect(app.stop()).resolves.toBeUndefined();
    expect(performance.now() - stopping).toBeLessThan(4_000);
    expect(warningsOf(app)).toEqual([]);
    // The sandbox is stopped after the traces, so it must be stopped by now.
    for (const url of Object.values(app.sandboxUrls ?? {})) await expect(fetch(url)).rejects.toThrow();
  }, 20_000);
});

test.each(RECEIVERS.slice(0, 2))(
  'with %s as the receiver the process exits with 0 within 10 s',
  async (_who, start) => {
    const child = startProcess(MAIN, {
      UPSTREAM_MODE: 'sandbox',
      SHUTDOWN_GRACE_MS: '0',
      PORT: '0',
      ADMIN_PORT: '0',
      SANDBOX_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: await start(),
    });
    onTestFinished(child.stop);
    const [, graphqlUrl = ''] = await child.waitFor(/Device trust is at (\S+),/);
    const body = JSON.stringify({ query: queryForTokens(['sandbox:web']) });
    for (let round = 0; round < 20; round += 1) await request(graphqlUrl, json(body));
    const begin = performance.now();
    expect(await child.end('SIGTERM')).toBe(0);
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(child.stderr()).toBe('');
  },
  20_000,
);

setFlagsFromString('--expose-gc');
// Sound: with that flag set, every new context has a global function of this name.
const collectGarbage = runInNewContext('gc') as () => void;

test('a receiver that never responds does not fill the memory', { timeout: 60_000 }, async () => {
  const receiver = createServer();
  const port = await listen(receiver);
  onTestFinished(() => closeAtOnce(receiver));
  const upstream = await startUpstream((_request, response) => sendJson(response, 200, ANDROID));
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const app = await startInLiveMode(urls, { otlpEndpoint: `http://127.0.0.1:${port}` });
  onTestFinished(app.stop);
  const ask = async (rounds: number) => {
    const tokens = Array.from({ length: 100 }, (_, index) => `token-${index}`);
    for (let round = 0; round < rounds; round += 1) await send(app, { query: queryForTokens(tokens) });
    upstream.received.length = 0;
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  // Fills the queue of spans, which holds 2,048.
  const before = await ask(25);
  // If all of these 8,000 spans were kept, they would take 7 MB.
  expect((await ask(80)) - before).toBeLessThan(4_000_000);
});
