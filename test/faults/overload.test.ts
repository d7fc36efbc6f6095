import { expect, onTestFinished, test } from 'vitest';
import { ask, CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { hang, startHostile } from '../support/hostile.ts';
import { startAgainst } from './expectations.ts';

/** What a crowd of calls that hang means for those who come next. */

const INPUT = { lotNumber: 'lot', captchaOutput: 'output', passToken: 'pass', genTime: '1' };

async function start() {
  const upstream = await startHostile(hang);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, 3_000);
  onTestFinished(app.stop);
  return { upstream, app };
}

test('beyond 512 captchas at once, and as many that wait, the next one is OVERLOADED at once, and is no outcome that proceeds', async () => {
  const { upstream, app } = await start();
  const crowd = Array.from({ length: 1_024 }, () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT }));
  await expect.poll(() => upstream.requests, { timeout: 2_500 }).toBe(512);
  const { data, errors } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
  expect(data).toEqual({ validateCaptcha: null });
  expect(errors).toMatchObject([{ extensions: { code: 'OVERLOADED', retryable: true } }]);
  expect(upstream.requests).toBe(512);
  await Promise.all(crowd);
});

test('fingerprint calls that hang do not keep a captcha from its service', async () => {
  const { upstream, app } = await start();
  const many = (from: number) =>
    `{ ${Array.from({ length: 100 }, (_, i) => `a${i}: deviceFingerprint(token: "t${from + i}") { __typename }`).join(' ')} }`;
  const crowd = Array.from({ length: 11 }, (_, i) => ask(app.graphqlUrl, many(i * 100)));
  await expect.poll(() => upstream.requests, { timeout: 2_500 }).toBe(512);
  const late = ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 'late' });
  const captcha = ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
  expect((await late).errors).toMatchObject([{ extensions: { code: 'OVERLOADED' } }]);
  await expect.poll(() => upstream.requests, { timeout: 2_500 }).toBe(513);
  await Promise.all([...crowd, captcha]);
});
