import { expect, test } from 'vitest';
import { accountsOf } from '../../src/config/accounts.ts';
import { LIVE, parse } from './support.ts';

test('each account gets the address of its own region, in the order of the list', () => {
  const regions = ['EU', 'GLB', 'NA', 'EU'];
  const config = parse({
    ...LIVE,
    FINGERPRINT_APPLICATIONS: JSON.stringify(
      regions.map((region, i) => ({ publicKey: `pk_${i}a`, secret: 's', region })),
    ),
    FINGERPRINT_URL_NA: 'https://fp-na.test',
    FINGERPRINT_URL_EU: 'https://fp-eu.test',
    CAPTCHA_CONFIGURATIONS: JSON.stringify(
      regions.map((region, i) => ({ captchaId: String(i).repeat(32), captchaKey: 'k', region })),
    ),
    CAPTCHA_URL_NA: 'https://captcha-na.test',
    CAPTCHA_URL_EU: 'https://captcha-eu.test',
  });
  const { applications, captchas } = accountsOf(config);
  expect(applications.map(({ publicKey, baseUrl }) => [publicKey, baseUrl])).toEqual([
    ['pk_0a', 'https://fp-eu.test'],
    ['pk_1a', 'https://fp.test'],
    ['pk_2a', 'https://fp-na.test'],
    ['pk_3a', 'https://fp-eu.test'],
  ]);
  expect(captchas.map(({ captchaId, baseUrl }) => [captchaId[0], baseUrl])).toEqual([
    ['0', 'https://captcha-eu.test'],
    ['1', 'https://captcha.test'],
    ['2', 'https://captcha-na.test'],
    ['3', 'https://captcha-eu.test'],
  ]);
});

test('a region without an address is an error, and not an empty address', () => {
  expect(() => accountsOf({ ...parse(LIVE), captchaUrlGlb: undefined })).toThrow('expected an address for region GLB');
});
