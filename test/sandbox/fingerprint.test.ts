import { afterAll, describe, expect, test } from 'vitest';
import { parseToken } from '../../src/sandbox/fingerprint.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { query, queryText } from '../conformance/fingerprint-http.ts';
import { sandboxTarget } from '../conformance/sandbox.ts';

/** The tokens of the sandbox (src/sandbox/README.md). test/conformance has the rules of the document. */

const sandbox = await startSandbox({ port: 0 });
afterAll(sandbox.stop);
const { applications, disabledApplication } = sandboxTarget(sandbox.urls);

const answerTo = (device_token: string, region: 'GLB' | 'EU' = 'GLB') => query(applications[region], { device_token });
const ask = async (token: string, region?: 'EU') => Object((await answerTo(token, region)).body).data;

async function signalsOf(token: string, region?: 'EU'): Promise<string[]> {
  const { signals } = await ask(token, region);
  return signals.map((hit: object) => Object.values(hit).join(' '));
}

/** Fingerprint document, 2.9. */
const EXPIRED = 'TOKEN_EXPIRED MEDIUM 0.9';

describe('a device token', () => {
  test.each([
    ['android', 'Android'],
    ['ios', 'iOS'],
    ['web', 'Web/H5'],
    ['car', 'Car'],
  ])('a device token sandbox:%s is a device, with the signals that are named', async (name, client_type) => {
    const { detail, signals } = await ask(`sandbox:${name}`);
    expect([detail.client_type, signals]).toEqual([client_type, []]);
    // The order of the token, and the level and confidence of the catalogue (2.9); each signal once.
    expect(await signalsOf(`sandbox:${name}:VPN_ENABLED,EMULATOR,VPN_ENABLED`)).toEqual([
      'VPN_ENABLED LOW 1',
      'EMULATOR HIGH 0.95',
    ]);
  });

  test('a device token can give a signal a confidence of its own, from 0 to 1, and have newer words', async () => {
    expect(await signalsOf('sandbox:web:EMULATOR=0.7,VPN_ENABLED,CLOUD_PHONE=0')).toEqual([
      'EMULATOR HIGH 0.7',
      'VPN_ENABLED LOW 1',
      'CLOUD_PHONE HIGH 0',
    ]);
    const newer = await signalsOf('sandbox:car:NEWER_SIGNAL,NEWER_LEVEL=0.5');
    expect(newer).toEqual(['NEWER_SIGNAL MEDIUM 1', 'NEWER_LEVEL CRITICAL 0.5']);
    for (const wrong of ['=1.1', '=', '=.5', '=0.12345'])
      expect(parseToken(`sandbox:web:EMULATOR${wrong}`, false)).toBeUndefined();
  });

  test('a device token with a name after @ is another analysis of the device with this name, whatever it is like', async () => {
    const idsOf = async (token: string, region?: 'EU') => {
      const { request_id, fp_detail } = await ask(token, region);
      return [request_id, fp_detail.device_id];
    };
    const [request, ada] = await idsOf('sandbox:ios@ada#1');
    expect(await idsOf('sandbox:ios@ada#1')).toEqual([request, ada]);
    const another = [expect.not.stringMatching(`^${request}$`), ada];
    for (const token of ['sandbox:ios@ada#2', 'sandbox:ios@ada', 'sandbox:delay:1:once:android:EMULATOR@ada#basket-1'])
      expect(await idsOf(token)).toEqual(another);
    expect(await idsOf('sandbox:ios@ada#1', 'EU')).toEqual(another);
    const others = ['sandbox:ios', 'sandbox:ios#', 'sandbox:ios#line\nbreak', 'sandbox:ios#@ada', 'sandbox:ios@eve#1'];
    const ids = await Promise.all(others.map((token) => idsOf(token)));
    expect(new Set([request, ada, ...ids.flat()]).size).toBe(12);
    expect(await answerTo('sandbox:error:500@ada#1')).toMatchObject({ status: 500 });
  });

  test('a device token with a delay gets its response after that delay', async () => {
    const begin = performance.now();
    expect(await answerTo('sandbox:delay:200:error:500')).toMatchObject({ status: 500 });
    expect(performance.now() - begin).toBeGreaterThan(190);
    expect(parseToken('sandbox:delay:60000:web', false)).toMatchObject({ delayMs: 60_000 });
  });

  test.each([
    ...'sandbox sandbox: sandbox:windows sandbox:Android #anything @ada sandbox:web@ sandbox:web@#1'.split(' '),
    ...[' sandbox:android', 'sandbox:android\n'],
    ...['', 'NO_SUCH_SIGNAL', 'EMULATOR,', '@ada', 'EMULATOR, VPN_ENABLED', '__proto__'].map(
      (names) => `sandbox:web:${names}`,
    ),
    ...['', ':', ':error:500', ':once:web', ':delay:5:web'].map((rest) => `sandbox:once${rest}`),
    ...['', ':200', ':418', ':500:EMULATOR'].map((rest) => `sandbox:error${rest}`),
    ...[':2000', '::android', ':-1:android', ':60001:android', ':1:delay:1:android'].map(
      (rest) => `sandbox:delay${rest}`,
    ),
  ])('a device token %j is invalid', (token) => {
    expect(parseToken(token, false)).toBeUndefined();
  });
});

describe('a token that is for one query', () => {
  test.each(['android', 'ios', 'web'])(
    'a token that is for one query is expired from the second one on: %s',
    async (device) => {
      const token = `sandbox:once:${device}`;
      expect(await signalsOf(token)).toEqual([]);
      expect(await signalsOf(token)).toEqual([EXPIRED]);
      // In all regions and applications together.
      expect(await signalsOf(token, 'EU')).toEqual([EXPIRED]);
      for (const another of ['#another', '@ada#1']) expect(await signalsOf(token + another)).toEqual([]);
    },
  );

  test('a token that is for one query keeps its own signals, and reports the one that it names once', async () => {
    const token = 'sandbox:delay:1:once:web:VPN_ENABLED';
    expect(await signalsOf(token)).toEqual(['VPN_ENABLED LOW 1']);
    expect(await signalsOf(token)).toEqual(['VPN_ENABLED LOW 1', EXPIRED]);
    for (const _time of [1, 2]) expect(await signalsOf('sandbox:once:web:TOKEN_EXPIRED')).toEqual([EXPIRED]);
  });
});

test('a query with every mistake hears of the application, the secret, the state of the application and the body, in this order', async () => {
  const ask = async (changes: object, contentType = 'text/plain') =>
    Object(await queryText({ ...disabledApplication, ...changes }, '{"device_token":""', { contentType })).body;
  expect(await ask({ publicKey: 'pk_of_nobody', secret: 'wrong' })).toMatchObject({ code: 404 });
  expect(await ask({ secret: 'wrong' })).toMatchObject({ code: 401 });
  expect(await ask({})).toMatchObject({ code: 403 });
  const errorsOf = async (type: string) => (await ask(applications.GLB, type)).data.errors;
  expect(await errorsOf('text/plain')).toMatchObject([{ field: 'Content-Type', type: 'literal_error' }]);
  expect(await errorsOf('application/json')).toMatchObject([{ field: 'body', type: 'json_invalid' }]);
});
