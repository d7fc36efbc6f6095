import { afterAll, describe, expect, test } from 'vitest';
import { ANDROID, exception } from '../faults/documented.ts';
import { startInSandboxMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY, queryForTokens } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { send, startAgainst, startSandboxed } from './support.ts';

/** The metrics as they are read: in Prometheus' text format, with a bounded number of series, and consistent while they change. */

const app = await startInSandboxMode();
afterAll(app.stop);

test('the metrics are in the text format of Prometheus, whatever is accepted', async () => {
  for (const accept of ['application/openmetrics-text;version=1.0.0,text/plain;q=0.5', 'text/plain', 'image/png']) {
    const { headers } = await fetch(app.metricsUrl, { headers: { accept } });
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  }
  expect((await readMetrics(app)).families.get('device_trust_operations_total')).toBe('counter');
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
