import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { queryForTokens } from '../support/graphql.ts';
import { startRedis } from '../support/redis.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { startGood } from './support.ts';

test('replicas share the limit of a minute of a person, whose id the store does not know', { retry: 3 }, async () => {
  const { url } = await untilEnd(startRedis());
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  const upstream = await startGood();
  const secret = 'secret-of-the-router';
  const settings = {
    quotaStoreUrl: url,
    fingerprintQuota: { perMinuteOfPerson: 5 },
    routerSecrets: [secret],
    trustedHeaders: { subject: 'x-user-id' },
  };
  for (const refused of [0, 1]) {
    const app = await untilEnd(startInLiveMode(upstream.url, settings));
    const headers = { 'router-authorization': secret, 'x-user-id': 'ada' };
    const { errors = [] } = await ask(app.graphqlUrl, queryForTokens(times(3, String)), {}, headers);
    expect(errors).toHaveLength(refused);
  }
  expect(upstream.received).toHaveLength(5);
  const person = createHash('sha256').update('person ada').digest('base64url');
  expect(await client.keys('*')).toEqual([`device-trust:fingerprint:minute:router:${person}`]);
});
