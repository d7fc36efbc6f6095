import { expect, onTestFinished, test } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { envOf, start, startService } from './support.ts';

test('the replicas of an upstream that was added by one line count their quota together', async () => {
  const redis = await startRedis();
  onTestFinished(redis.stop);
  const service = await startService();
  const env = envOf(service.url, { SCORE_QUOTA: '{"perDay":3}', QUOTA_STORE_URL: redis.url });
  const [one, other] = [await start(env), await start(env)];
  const codes = [await one.codesOf(), await other.codesOf(), await one.codesOf(), await other.codesOf()];
  expect(codes).toEqual([undefined, undefined, undefined, ['QUOTA_EXCEEDED']]);
  expect(service.calls()).toHaveLength(3);
});
