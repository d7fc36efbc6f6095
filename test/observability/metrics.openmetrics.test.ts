import { describe, expect, test } from 'vitest';
import { readMetrics } from './exposition.ts';
import { startReceiver } from './otlp-receiver.ts';
import { operationsOf, queryForTokens, send, startSandboxed } from './support.ts';

/** The metrics in the format OpenMetrics, which has exemplars: https://prometheus.io/docs/specs/om/open_metrics_spec/ */

/** What Prometheus sends, in version 3 and in version 2. */
const OF_PROMETHEUS =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
const OF_PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const OPENMETRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';
const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

async function read({ metricsUrl }: { readonly metricsUrl: string }, accept: string) {
  const response = await fetch(metricsUrl, { headers: { accept } });
  return { type: response.headers.get('content-type'), text: await response.text() };
}

const EXEMPLAR =
  /^device_trust_operation_duration_seconds_bucket\{.*\} \d+ # \{trace_id="([\da-f]{32})"\} (\S+) (\S+)$/gm;

describe('the format', () => {
  test.each([
    [OF_PROMETHEUS, OPENMETRICS],
    [OF_PROMETHEUS_2, OPENMETRICS],
    ['application/openmetrics-text; version=1.0.0', OPENMETRICS],
    ['text/plain', TEXT],
    ['*/*', TEXT],
    ['image/png', TEXT],
    ['application/openmetrics-text; version=9', TEXT],
  ])('that Accept: %s gets', async (accept, type) => {
    expect((await read(await startSandboxed(), accept)).type).toBe(type);
  });

  test('has the same counters in both, whoever asks first or at the same time', async () => {
    const app = await startSandboxed();
    await send(app, { query: queryForTokens(['sandbox:web']) });
    const counters = (text: string) => text.match(/^device_trust_fingerprint_calls_total \d+$/gm);
    const answers = await Promise.all([OF_PROMETHEUS, 'text/plain', OF_PROMETHEUS].map((accept) => read(app, accept)));
    expect(answers.map(({ text }) => counters(text))).toEqual(
      Array(3).fill(['device_trust_fingerprint_calls_total 1']),
    );
    expect(answers.map(({ text }) => text.endsWith('\n# EOF\n'))).toEqual([true, false, true]);
    expect((await readMetrics(app)).families.get('device_trust_operations_total')?.type).toBe('counter');
    expect(answers[0]?.text).toContain('# TYPE device_trust_operations counter\n');
  });
});

describe('an exemplar', () => {
  test('leads from a bucket to the trace of an operation', async () => {
    const { endpoint: otlpEndpoint } = await startReceiver();
    const app = await startSandboxed({ otlpEndpoint, otelTracesSampler: 'always_on' });
    await send(app, { query: queryForTokens(['sandbox:web']) });
    const found = [...(await read(app, OF_PROMETHEUS)).text.matchAll(EXEMPLAR)];
    expect(found.map(([, traceId]) => traceId)).toEqual([operationsOf(app)[0]?.['traceId']]);
    const [seconds, timestamp] = found[0]?.slice(2).map(Number) ?? [];
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan(10);
    expect(Math.abs(Date.now() / 1_000 - (timestamp ?? 0))).toBeLessThan(60);
    expect((await read(app, 'text/plain')).text).not.toContain('trace_id');
  });

  test('is not there for an operation whose trace is not exported', async () => {
    const { endpoint: otlpEndpoint } = await startReceiver();
    for (const overrides of [{}, { otlpEndpoint, otelTracesSampler: 'always_off' } as const]) {
      const app = await startSandboxed(overrides);
      const headers = { traceparent: `00-${'0af76519'.repeat(4)}-b7ad6b7169203331-01` };
      await send(app, { query: queryForTokens(['sandbox:web']) }, headers);
      expect((await read(app, OF_PROMETHEUS)).text).not.toContain('trace_id');
    }
  });
});
