import { afterAll, describe, expect, test } from 'vitest';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { parseToken } from '../../src/sandbox/token.ts';
import { createUsedTokens } from '../../src/sandbox/used-tokens.ts';
import { dataOf, query } from './support.ts';

/** What a device token of the sandbox asks for. */

const names = (token: string) => {
  const meaning = parseToken(token);
  return meaning && 'signals' in meaning ? meaning.signals.map((row) => row.signal) : undefined;
};

describe('device tokens', () => {
  test.each(['android', 'ios', 'web'])('sandbox:%s is a device without signals', (device) => {
    expect(parseToken(`sandbox:${device}`)).toEqual({ delayMs: 0, device, signals: [] });
  });

  test('signals carry the level and confidence of the catalogue, in the order of the token', () => {
    expect(parseToken('sandbox:android:VPN_ENABLED,EMULATOR')).toMatchObject({
      signals: [
        { signal: 'VPN_ENABLED', level: 'LOW', confidence: 1 },
        { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 },
      ],
    });
  });

  test('one token can have all signals of the catalogue', () => {
    const all = SIGNAL_CATALOGUE.map((row) => row.code);
    expect(names(`sandbox:web:${all.join()}`)).toEqual(all);
  });

  test('a signal is reported once, however often it is named', () => {
    expect(names('sandbox:ios:EMULATOR,EMULATOR')).toEqual(['EMULATOR']);
  });

  test.each(['android', 'ios', 'web'])('sandbox:once:%s is for one query', (device) => {
    expect(parseToken(`sandbox:once:${device}:VPN_ENABLED#17`)).toMatchObject({ device, isForOneQuery: true });
    expect(parseToken(`sandbox:delay:5:once:${device}`)).toMatchObject({ delayMs: 5, device, isForOneQuery: true });
    expect(parseToken(`sandbox:${device}`)).not.toHaveProperty('isForOneQuery');
  });

  test.each([400, 401, 403, 404, 500])('sandbox:error:%i is an error', (error) => {
    expect(parseToken(`sandbox:error:${error}`)).toEqual({ delayMs: 0, error });
  });

  test('a delay comes before a device or an error', () => {
    expect(parseToken('sandbox:delay:2000:web')).toMatchObject({ delayMs: 2000, device: 'web' });
    expect(parseToken('sandbox:delay:60000:error:500')).toEqual({ delayMs: 60_000, error: 500 });
  });

  test.each(['#', '#17', '#a#b', '#line\nbreak', '#sandbox:error:500'])('the suffix %j changes nothing', (suffix) => {
    expect(parseToken(`sandbox:ios:EMULATOR${suffix}`)).toEqual(parseToken('sandbox:ios:EMULATOR'));
    expect(parseToken(`sandbox:error:403${suffix}`)).toEqual(parseToken('sandbox:error:403'));
  });

  test.each([
    'sandbox',
    'sandbox:',
    'sandbox:windows',
    'sandbox:Android',
    ' sandbox:android',
    'sandbox:android ',
    'sandbox:android\n',
    'sandbox:android:',
    'sandbox:android:NO_SUCH_SIGNAL',
    'sandbox:android:EMULATOR,',
    'sandbox:android:EMULATOR, VPN_ENABLED',
    'sandbox:android:__proto__',
    'sandbox:once',
    'sandbox:once:',
    'sandbox:once:error:500',
    'sandbox:once:once:web',
    'sandbox:once:delay:5:web',
    'sandbox:error',
    'sandbox:error:200',
    'sandbox:error:418',
    'sandbox:error:500:EMULATOR',
    'sandbox:delay:2000',
    'sandbox:delay::android',
    'sandbox:delay:-1:android',
    'sandbox:delay:60001:android',
    'sandbox:delay:1:delay:1:android',
  ])('%j is invalid', (token) => {
    expect(parseToken(token)).toBeUndefined();
  });
});

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
