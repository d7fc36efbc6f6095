import { describe, expect, test } from 'vitest';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import { parseToken } from '../../src/sandbox/token.ts';

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
