import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';

/** The signals of a device, and their filters. Section numbers are the fingerprint document's. */

const app = await startInSandboxMode();
afterAll(() => app.stop());

describe('signals, by level and confidence', () => {
  const TOKEN = 'sandbox:android:EMULATOR,IP_MALICIOUS_ATTACK,IP_CRAWLER_OR_BOT,DEVICE_WITHOUT_SIM';
  const names = async (filter: string) => {
    const { data, errors } = await ask(
      app.graphqlUrl,
      `query ($token: String!) { deviceFingerprint(token: $token) { ... on DeviceFingerprint { signals${filter} { name } } } }`,
      { token: TOKEN },
    );
    return errors ?? data.deviceFingerprint.signals.map(({ name }: { name: string }) => name);
  };

  // Levels and confidences from 2.9: HIGH 0.95, HIGH 0.6, MEDIUM 0.8, LOW 0.4.
  test.each([
    ['', ['EMULATOR', 'IP_MALICIOUS_ATTACK', 'IP_CRAWLER_OR_BOT', 'DEVICE_WITHOUT_SIM']],
    ['(minLevel: LOW)', ['EMULATOR', 'IP_MALICIOUS_ATTACK', 'IP_CRAWLER_OR_BOT', 'DEVICE_WITHOUT_SIM']],
    ['(minLevel: MEDIUM)', ['EMULATOR', 'IP_MALICIOUS_ATTACK', 'IP_CRAWLER_OR_BOT']],
    ['(minLevel: HIGH)', ['EMULATOR', 'IP_MALICIOUS_ATTACK']],
    ['(minConfidence: 0.8)', ['EMULATOR', 'IP_CRAWLER_OR_BOT']],
    ['(minConfidence: 1)', []],
    ['(minLevel: HIGH, minConfidence: 0.61)', ['EMULATOR']],
    [
      '(minLevel: null, minConfidence: null)',
      ['EMULATOR', 'IP_MALICIOUS_ATTACK', 'IP_CRAWLER_OR_BOT', 'DEVICE_WITHOUT_SIM'],
    ],
  ])('with the filter %j', async (filter, expected) => {
    expect(await names(filter)).toEqual(expected);
  });

  test('a confidence in percent is refused: an empty list would look like a device without signals', async () => {
    expect(await names('(minConfidence: 80)')).toMatchObject([
      {
        message: 'minConfidence: expected a number from 0 to 1, but got one outside.',
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
  });
});

test('names of lists stay as they are, and the effect follows their description (2.9)', async () => {
  const { data } = await ask(app.graphqlUrl, FINGERPRINT_QUERY, {
    token: 'sandbox:web:WHITELIST_IP,BLACKLIST_IP,VPN_ENABLED',
  });
  expect(data.deviceFingerprint.signals).toMatchObject([
    { name: 'WHITELIST_IP', code: 'WHITELIST_IP', effect: 'DENY', level: 'HIGH', confidence: 1 },
    { name: 'BLACKLIST_IP', code: 'BLACKLIST_IP', effect: 'ALLOW', level: 'LOW', confidence: 1 },
    { name: 'VPN_ENABLED', code: 'VPN_ENABLED', effect: 'RISK', level: 'LOW', confidence: 1 },
  ]);
});
