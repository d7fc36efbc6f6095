import { expect, test } from 'vitest';
import { ANDROID } from '../faults/documented.ts';
import { SANDBOX } from '../process/environments.ts';
import { startInLiveMode } from '../support/app.ts';
import { collectGarbage } from '../support/garbage.ts';
import { queryForTokens } from '../support/graphql.ts';
import { answer, type Behaviour, hang, reset, startHostile } from '../support/hostile.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { json, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { readMetrics } from './exposition.ts';
import { send, startSandboxed, warningsOf } from './support.ts';

/** A receiver of traces that fails has no effect on responses, memory or the end of the process, and one line says that it fails. */

const RECEIVERS: readonly (readonly [string, Behaviour | undefined])[] = [
  ['no process', undefined],
  ['a process that never responds', hang],
  ['a process that resets each connection', reset],
  ['a process that responds with 503', answer(503, '{}')],
];

test('responses are as usual, one line names the side, and the app stops, whatever fails at the receiver', async () => {
  // Side by side, because each stop waits for the last export.
  await Promise.all(
    RECEIVERS.map(async ([who, behave]) => {
      const receiver = behave && (await untilEnd(startHostile(behave)));
      const otlpEndpoint = receiver?.url ?? 'http://127.0.0.1:9';
      const app = await startSandboxed({ otlpEndpoint, otelTracesSamplerArg: 1 });
      const ask = async () => {
        const { status, text } = await send(app, { query: queryForTokens(['sandbox:web', 'sandbox:ios']) });
        expect([status, JSON.parse(text).errors], who).toEqual([200, undefined]);
      };
      await ask();
      if (receiver) await expect.poll(() => receiver.requests).toBeGreaterThan(0);
      for (let round = 0; round < 5; round += 1) await ask();
      await expect(app.stop(), who).resolves.toBeUndefined();
      const msg = expect.stringMatching(
        /^Traces are lost: the receiver at OTEL_EXPORTER_OTLP_ENDPOINT .* operator has to act\.$/,
      );
      expect(warningsOf(app), who).toMatchObject([{ level: 'warn', error: { name: expect.any(String) }, msg }]);
      // The sandbox is stopped after the traces, so it must be stopped by now.
      for (const url of Object.values(app.sandboxUrls ?? {})) await expect(fetch(url), who).rejects.toThrow();
    }),
  );
});

test('with a receiver that never responds, the process exits with 0 within 10 s', async () => {
  const { url: OTEL_EXPORTER_OTLP_ENDPOINT } = await untilEnd(startHostile(hang));
  const child = await untilEnd(
    startProcess(MAIN, { ...SANDBOX, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '1' }),
  );
  const [, graphqlUrl = ''] = await child.waitFor(/Device trust is at (\S+),/);
  const body = JSON.stringify({ query: queryForTokens(['sandbox:web']) });
  for (let round = 0; round < 5; round += 1) await request(graphqlUrl, json(body));
  const begin = performance.now();
  expect(await child.end('SIGTERM')).toBe(0);
  expect(performance.now() - begin).toBeLessThan(10_000);
  expect(child.stderr()).toBe('');
});

test('a receiver that never responds does not fill the memory', async () => {
  const { url: otlpEndpoint } = await untilEnd(startHostile(hang));
  const upstream = await untilEnd(startUpstream((_request, response) => sendJson(response, 200, ANDROID)));
  const app = await untilEnd(startInLiveMode(upstream.url, { otlpEndpoint, otelTracesSamplerArg: 1 }));
  const ask = async (rounds: number) => {
    const tokens = Array.from({ length: 100 }, (_, index) => `token-${index}`);
    for (let round = 0; round < rounds; round += 1) await send(app, { query: queryForTokens(tokens) });
    upstream.received.length = 0;
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  // Fills the queue of spans, which holds 2,048.
  const before = await ask(25);
  // If all of these 4,000 spans were kept, they would take 3.5 MB.
  expect((await ask(40)) - before).toBeLessThan(2_000_000);
  const lost = async (reason: string) => (await readMetrics(app)).value('device_trust_spans_lost_total', { reason });
  for (const reason of ['export_failed', 'queue_full']) await expect.poll(() => lost(reason)).toBeGreaterThan(0);
  const messages = warningsOf(app).map(({ msg }) => msg);
  expect(messages).toContainEqual(expect.stringMatching(/our operator has to lower OTEL_TRACES_SAMPLER_ARG\.$/));
});
