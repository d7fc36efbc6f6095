import { expect, test } from 'vitest';
import { SANDBOX_APPLICATIONS } from '../../src/sandbox/accounts.ts';
import { queryForTokens } from '../support/graphql.ts';
import { hang, reset } from '../support/hostile.ts';
import { operationsOf, send, startAgainst } from './support.ts';

/** A stop takes all of its time here. */

test('a stop waits for the log line of a trial in an outage, whose call does not end with its client', async () => {
  const alone = { fingerprintApplications: SANDBOX_APPLICATIONS.slice(0, 1), captchaConfigurations: [] };
  const { app, upstream } = await startAgainst(hang, alone, reset);
  await expect.poll(app.logged).toContain('"health":"outage"');
  const asked = expect(send(app, { query: queryForTokens(['a']) })).rejects.toThrow();
  await expect.poll(() => upstream.requests).toBe(1);
  await app.stop();
  expect(operationsOf(app)).toMatchObject([{ errors: ['CANCELLED'], upstreamCalls: 1 }]);
  await asked;
});
