import { expect, test } from 'vitest';
import { ANDROID, exception } from '../faults/documented.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY, queryForTokens } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { send, startAgainst, startSandboxed } from './support.ts';

/** The number of series is bounded, whatever callers and upstreams make up. */

const series = async (app: Parameters<typeof readMetrics>[0]) =>
  (await readMetrics(app)).samples
    .filter(({ name }) => name.startsWith('device_trust_'))
    .map(({ name, labels }) => JSON.stringify([name, labels]));

test('no new series appear for values that callers make up: operation names, clients, codes, tokens, ids, paths', async () => {
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

test('no new series appear for values that upstreams make up: signals, codes and reasons', async () => {
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
