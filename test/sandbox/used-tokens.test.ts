import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createUsedTokens } from '../../src/sandbox/used-tokens.ts';
import { dataOf, query } from './support.ts';

const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
afterAll(() => sandbox.stop());

const signalsOf = async (deviceToken: string, region: 'GLB' | 'EU' = 'GLB') => {
  const name = region.toLowerCase();
  const options = {
    publicKey: `pk_sandbox_${name}`,
    headers: { authorization: `Bearer sk_sandbox_${name}`, 'content-type': 'application/json' },
  };
  const { signals } = await dataOf(await query(sandbox.urls[region], { device_token: deviceToken }, options));
  return signals.map(({ signal, level, confidence }) => `${signal} ${level} ${confidence}`);
};
/** Fingerprint document, 2.9. */
const EXPIRED = 'TOKEN_EXPIRED MEDIUM 0.9';

describe('a token that is for one query', () => {
  test.each(['android', 'ios', 'web'])('is expired from the second one on: %s', async (device) => {
    const token = `sandbox:once:${device}`;
    expect(await signalsOf(token)).toEqual([]);
    expect(await signalsOf(token)).toEqual([EXPIRED]);
    expect(await signalsOf(token)).toEqual([EXPIRED]);
    expect(await signalsOf(`${token}#another`)).toEqual([]);
  });

  test('keeps its own signals, and reports the one that it names once', async () => {
    const token = 'sandbox:once:web:VPN_ENABLED';
    expect(await signalsOf(token)).toEqual(['VPN_ENABLED LOW 1']);
    expect(await signalsOf(token)).toEqual(['VPN_ENABLED LOW 1', EXPIRED]);
    for (const _time of [1, 2]) expect(await signalsOf('sandbox:once:web:TOKEN_EXPIRED')).toEqual([EXPIRED]);
  });

  test('is the same token in every region', async () => {
    expect(await signalsOf('sandbox:once:ios#region', 'GLB')).toEqual([]);
    expect(await signalsOf('sandbox:once:ios#region', 'EU')).toEqual([EXPIRED]);
  });
});

test('any other token can be asked about again', async () => {
  for (const _time of [1, 2]) expect(await signalsOf('sandbox:android')).toEqual([]);
});

test('of more tokens than are remembered, the first is forgotten', () => {
  const tokens = createUsedTokens(2);
  expect(['a', 'b', 'a', 'c', 'b', 'a'].map(tokens.use)).toEqual([false, false, true, false, true, false]);
});
