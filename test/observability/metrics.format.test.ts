import { afterAll, describe, expect, test } from 'vitest';
import { ANDROID, exception } from '../faults/documented.ts';
import { startInSandboxMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY, queryForTokens } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { startReceiver } from './otlp-receiver.ts';
import { operationsOf, send, startAgainst, startSandboxed } from './support.ts';

/**
 * The metrics as they are read: in the text format, or as OpenMetrics (https://prometheus.io/docs/specs/om/open_metrics_spec/),
 * which has exemplars; with a bounded number of series; and consistent while they change.
 */

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

const app = await startInSandboxMode();
afterAll(app.stop);

describe('the format', () => {
  test.each([
    [OF_PROMETHEUS, OPENMETRICS],
    [OF_PROMETHEUS_2, OPENMETRICS],
    ['application/openmetrics-text; version=1.0.0', OPENMETRICS],
    ['text/plain', TEXT],
    ['*/*', TEXT],
    ['image/png', TEXT],
  ])('that Accept: %s gets', async (accept, type) => {
    expect((await read(app, accept)).type).toBe(type);
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
    expect((await readMetrics(app)).families.get('device_trust_operations_total')).toBe('counter');
    expect(answers[0]?.text).toContain('# TYPE device_trust_operations counter\n');
  });
});

const EXEMPLAR =
  /^device_trust_operation_duration_seconds_bucket\{.*\} \d+ # \{trace_id="([\da-f]{32})"\} (\S+) (\S+)$/gm;

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

const series = async (app: Parameters<typeof readMetrics>[0]) =>
  (await readMetrics(app)).samples
    .filter(({ name }) => name.startsWith('device_trust_'))
    .map(({ name, labels }) => JSON.stringify([name, labels]));

describe('no new series appear', () => {
  test('for values that callers make up: operation names, clients, codes, tokens, ids, paths', async () => {
    const app = await startSandboxed({ routerSecrets: ['the-secret-of-the-router'] });
    const hostile = async (index: number) => {
      const id = `made_up_${index}`;
      const headers = {
        'router-authorization': 'the-secret-of-the-router',
        'apollographql-client-name': id,
        'apollographql-client-version': id,
        'x-request-id': id,
      };
      const input = { lotNumber: id, captchaOutput: id, passToken: id, genTime: String(index) };
      const query = `query ${id} { ${id}: deviceFingerprint(token: "${id}", eventType: "${id}") { __typename } }`;
      await Promise.all([
        send(app, { query }, headers),
        send(app, { query: FINGERPRINT_QUERY, variables: { token: id, publicKey: id } }, headers),
        send(app, { query: CAPTCHA_MUTATION, variables: { input } }, headers),
        send(app, { query: CAPTCHA_MUTATION, variables: { input: { ...input, captchaId: id } } }, headers),
        send(app, { query: `{ ${id} }`, operationName: id, extensions: { code: id } }, headers),
        send(app, { query: '{ a }' }, { 'router-authorization': id }),
        fetch(`${app.url}/${id}`, { headers }).then((response) => response.text()),
        fetch(app.graphqlUrl, { method: 'POST', body: id }).then((response) => response.text()),
      ]);
    };
    await hostile(0);
    const before = await series(app);
    await Promise.all(Array.from({ length: 30 }, (_, index) => hostile(index + 1)));
    expect(await series(app)).toEqual(before);
    expect(before.join()).not.toContain('made_up');
  });

  test('for values that upstreams make up: signals, codes and reasons', async () => {
    let answers = 0;
    const { app } = await startAgainst((exchange) => {
      answers += 1;
      const signals = Array.from({ length: 50 }, (_, index) => ({
        signal: `made_up_${answers}_${index}`,
        level: 'HIGH',
        confidence: index / 50,
      }));
      const isCaptcha = exchange.request.includes('/validate');
      const judged = { ...ANDROID, data: { ...ANDROID.data, signals } };
      answer(200, isCaptcha ? exception(String(-50_300 - answers), 'made_up') : JSON.stringify(judged))(exchange);
    });
    const ask = () =>
      Promise.all([
        send(app, { query: queryForTokens(['a', 'b', 'c']) }),
        send(app, { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } }),
      ]);
    await ask();
    const before = await series(app);
    for (let round = 0; round < 10; round += 1) await ask();
    expect(await series(app)).toEqual(before);
    expect(before.join()).not.toContain('made_up');
    const { value } = await readMetrics(app);
    expect(value('device_trust_signals_total', { code: 'unknown', level: 'HIGH' })).toBe(11 * 3 * 50);
  });
});

test('under load each scrape is complete, and no counter is less than in the scrape before', async () => {
  const PARTIAL = { outcome: 'partial' };
  let busy = true;
  const ask = async () => {
    while (busy) await send(app, { query: queryForTokens(['sandbox:web', 'sandbox:error:500', 'made-up']) });
  };
  const crowd = Array.from({ length: 10 }, ask);
  const counts: number[] = [];
  const scrape = async () => {
    const [{ value, families }] = await Promise.all([readMetrics(app), readMetrics(app)]);
    const count = value('device_trust_operation_duration_seconds_count', PARTIAL) ?? 0;
    expect(value('device_trust_operation_duration_seconds_bucket', { ...PARTIAL, le: '+Inf' }) ?? 0).toBe(count);
    expect(families.size).toBeGreaterThan(20);
    counts.push(count);
    return count;
  };
  await scrape();
  await expect.poll(scrape, { interval: 1 }).toBeGreaterThan((counts[0] ?? 0) + 50);
  busy = false;
  await Promise.all(crowd);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});
