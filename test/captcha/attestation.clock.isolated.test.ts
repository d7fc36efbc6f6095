import { expect, onTestFinished, test, vi } from 'vitest';
import { AttestationIssuer, generateKey } from '../../src/captcha/attestation.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { Accounts } from '../../src/upstream/accounts.ts';
import { INPUT } from './support.ts';

test('the limit of attestations without a verdict holds for any stretch of a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const captchas = new Accounts(({ captchaId }) => captchaId, [{ captchaId: 'a'.repeat(32), captchaKey: 'key' }]);
  const audiences = [{ id: 'orders', actions: ['placeOrder'], subject: 'optional' as const }];
  const settings = { issuer: 'https://device-trust.test', lifetimeSeconds: 120, unverifiedPerMinute: 2, audiences };
  const issuer = new AttestationIssuer(
    { settings, keys: [generateKey('active')] },
    { captchas, metrics: createMetrics() },
  );
  const outage = { proceed: true, isConfirmed: true, cause: 'SERVICE', message: '' } as const;
  const isIssuedAfter = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    const request = issuer.check({ ...INPUT, audience: 'orders', action: 'placeOrder' }, undefined);
    return (await request?.({ __typename: 'CaptchaIndeterminate', ...outage })) !== null;
  };
  const waits = [0, 1_000, 58_999, 1, 999, 1];
  const issued: boolean[] = [];
  for (const ms of waits) issued.push(await isIssuedAfter(ms));
  expect(issued).toEqual([true, true, false, true, false, true]);
});
