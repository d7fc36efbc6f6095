import { describe, expect, test } from 'vitest';

import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { APPLICATION, APPLICATIONS, CANARY, CAPTCHA, CAPTCHAS, LIVE, parse, problemsOf } from './support.ts';

/** How the environment becomes a configuration: defaults, files, addresses, and every mistake at once. */

describe('defaults', () => {
  test('live mode is the default, with what has no default', () => {
    expect(parse(LIVE)).toMatchObject({
      upstreamMode: 'live',
      port: 4001,
      fingerprintApplications: [APPLICATION],
      fingerprintUrlGLB: 'https://fp.test',
      captchaConfigurations: [CAPTCHA],
      captchaUrlGLB: 'https://captcha.test',
    });
  });

  test('the sandbox serves only when it is asked for, and needs nothing else', () => {
    expect(parse({ UPSTREAM_MODE: 'sandbox' })).toMatchObject({
      upstreamMode: 'sandbox',
      allowDirectAccess: false,
      logSample: 1,
      routerSecrets: [],
      sealingKeys: [],
    });
  });

  test('an empty text counts as not set', () => {
    const all = Object.values<Variable>(VARIABLES).flatMap(({ name, secret }) =>
      secret ? [name, `${name}_FILE`] : name,
    );
    expect(parse({ ...Object.fromEntries(all.map((name) => [name, ''])), ...LIVE })).toEqual(parse(LIVE));
    expect(problemsOf({ FINGERPRINT_APPLICATIONS: '', CAPTCHA_CONFIGURATIONS: '', ROUTER_SECRETS: '' })).toHaveLength(
      2,
    );
  });
});

describe('NAME_FILE', () => {
  const { FINGERPRINT_APPLICATIONS, ...rest } = LIVE;
  const path = '/run/secrets/fp';
  const env = { ...rest, FINGERPRINT_APPLICATIONS_FILE: path };
  const EXPECTED =
    'FINGERPRINT_APPLICATIONS: expected a JSON list of {"publicKey", "secret", "region"}, region GLB, NA or EU, with different public keys, but got ';

  test('NAME_FILE holds the value, whose last line may end', () => {
    const { CAPTCHA_CONFIGURATIONS: _, ...others } = rest;
    const files = { [path]: `${APPLICATIONS}\n`, '/run/captcha': CAPTCHAS };
    const names = { FINGERPRINT_APPLICATIONS_FILE: path, CAPTCHA_CONFIGURATIONS_FILE: '/run/captcha' };
    expect(parse({ ...others, ...names }, files)).toEqual(parse(LIVE));
    const LOG_HASH_KEY = 'k'.repeat(16);
    expect(parse({ ...LIVE, LOG_HASH_KEY_FILE: '/k' }, { '/k': `${LOG_HASH_KEY}\n` })).toEqual(
      parse({ ...LIVE, LOG_HASH_KEY }),
    );
  });

  test('NAME_FILE that cannot be read, such as the value itself by mistake, is reported without its path', () => {
    const mistaken = { ...rest, FINGERPRINT_APPLICATIONS_FILE: JSON.stringify([{ ...APPLICATION, secret: CANARY }]) };
    const sentence =
      /^FINGERPRINT_APPLICATIONS_FILE: expected a readable file with .*, but got a path that cannot be read\.$/;
    expect(problemsOf(mistaken)).toEqual([expect.stringMatching(sentence)]);
    expect(problemsOf(mistaken).join()).not.toContain(CANARY);
    const policy = (path: string) => problemsOf({ ...LIVE, RISK_POLICY_FILE: path }, { '/policy': '{"rules":[]}' });
    const readable = 'RISK_POLICY_FILE: expected a readable file with a risk policy, but got ';
    expect(policy('/none')).toEqual([`${readable}a path that cannot be read.`]);
    expect(policy('"/policy"')).toEqual([`${readable}a path in quotes.`]);
    expect(policy('/policy')).toEqual([
      'RISK_POLICY_FILE: rules: expected a list of 1 to 64 rules, but got a list of 0.',
      'RISK_POLICY_FILE: otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.',
    ]);
  });

  test('NAME_FILE beside NAME is refused', () => {
    const both = { ...LIVE, FINGERPRINT_APPLICATIONS_FILE: path };
    expect(problemsOf(both, { [path]: FINGERPRINT_APPLICATIONS })).toEqual([
      'FINGERPRINT_APPLICATIONS: expected either it or FINGERPRINT_APPLICATIONS_FILE, but got both.',
    ]);
  });

  test.each([
    ['is malformed', `[{"secret":"${CANARY}"`],
    ['is empty', ''],
  ])('NAME_FILE that %s is reported without its content', (_what, text) => {
    expect(problemsOf(env, { [path]: text })).toEqual([`${EXPECTED}a wrong value (it is not JSON).`]);
  });
});

test('a wrong mode hides no other mistake, and each has one sentence', () => {
  const wrong = {
    UPSTREAM_MODE: 'production',
    PORT: '70000',
    FINGERPRINT_URL_EU: 'ftp://x',
    FINGERPRINT_TIMEOUT_MS: '3s',
    CAPTCHA_CONFIGURATIONS: '[]',
  };
  const named = problemsOf({ ...LIVE, ...wrong }).map((problem) => problem.split(':', 1).join());
  expect(named.sort()).toEqual(Object.keys(wrong).sort());
});
