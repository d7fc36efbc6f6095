import { describe, expect, test } from 'vitest';
import { ANDROID, exception } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { queryForTokens, send, startAgainst, startSandboxed } from './support.ts';

/** The number of series is bounded, whatever callers and upstreams send. */

const series = async (app: Parameters<typeof readMetrics>[0]) =>
  (await readMetrics(app)).samples
    .filter(({ name }) => name.startsWith('device_trust_'))
    .map(({ name, labels }) => JSON.stringify([name, labels]));

describe('no new series appear', () => {
  test('for values that callers make up: operation names, clients, codes, tokens, ids, paths', async () => {
    const app = await startSandboxed({ routerSecrets: ['the-secret-of-the-router'] });
    const asRouter = { 'router-authorization': 'the-secret-of-the-router' };
    const hostile = async (index: number) => {
      const id = `made_up_${index}`;
      const headers = {
        ...asRouter,
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
    for (let from = 1; from < 1_000; from += 25) {
      await Promise.all(Array.from({ length: 25 }, (_, index) => hostile(from + index)));
    }
    expect(await series(app)).toEqual(before);
    expect(before.join()).not.toContain('made_up');
  }, 60_000);

  test('for values that upstreams make up: signals, codes and reasons', async () => {
    let answers = 0;
    const { app } = await startAgainst((exchange) => {
      answers += 1;
      const signals = Array.from({ length: 50 }, (_, index) => ({
        signal: `made_up_${answers}_${index}`,
        level: 'HIGH',
        confidence: Math.random(),
      }));
      const isCaptcha = exchange.request.includes('/validate');
      const judged = { ...ANDROID, data: { ...ANDROID.data, signals } };
      answer(200, isCaptcha ? exception(String(-60_000 - answers), 'made_up') : JSON.stringify(judged))(exchange);
    });
    const input = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };
    const ask = () =>
      Promise.all([
        send(app, { query: queryForTokens(['a', 'b', 'c']) }),
        send(app, { query: CAPTCHA_MUTATION, variables: { input } }),
      ]);
    await ask();
    const before = await series(app);
    for (let round = 0; round < 20; round += 1) await ask();
    expect(await series(app)).toEqual(before);
    expect(before.join()).not.toContain('made_up');
    const { value } = await readMetrics(app);
    expect(value('device_trust_signals_total', { code: 'unknown', level: 'HIGH' })).toBe(21 * 3 * 50);
  });
});

const PARTIAL = { outcome: 'partial' };

test('under load each scrape is complete, and no counter is less than in the scrape before', async () => {
  const app = await startSandboxed();
  let busy = true;
  const ask = async () => {
    while (busy) await send(app, { query: queryForTokens(['sandbox:web', 'sandbox:error:500', 'made-up']) });
  };
  const crowd = Array.from({ length: 10 }, ask);
  const counts: number[] = [];
  for (let reading = 0; reading < 20; reading += 1) {
    const [{ value, families }] = await Promise.all([readMetrics(app), readMetrics(app)]);
    const count = value('device_trust_operation_duration_seconds_count', PARTIAL) ?? 0;
    expect(value('device_trust_operation_duration_seconds_bucket', { ...PARTIAL, le: '+Inf' }) ?? 0).toBe(count);
    expect(families.size).toBeGreaterThan(20);
    counts.push(count);
  }
  busy = false;
  await Promise.all(crowd);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  expect(counts.at(-1)).toBeGreaterThan(counts[0] ?? 0);
}, 30_000);
