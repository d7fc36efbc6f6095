import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { CAPTCHA_SECTIONS, captchaAudits } from './captcha.ts';
import { expectNoPass, verify } from './captcha-http.ts';
import { FINGERPRINT_SECTIONS, fingerprintAudits } from './fingerprint.ts';
import { register } from './register.ts';
import { sandboxAudits } from './sandbox-controls.ts';
import { sandboxTarget } from './sandbox-target.ts';
import { missingNeeds } from './target.ts';

// Started while tests are collected: the audits become tests only for a known target.
const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
afterAll(() => sandbox.stop());

const target = sandboxTarget(sandbox.urls);
const everyAudit = [...fingerprintAudits, ...captchaAudits, ...sandboxAudits];

describe('the sandbox keeps the fingerprint document', () => register(fingerprintAudits, target));
describe('the sandbox keeps the captcha document', () => register(captchaAudits, target));
describe('the sandbox obeys its own controls', () => register(sandboxAudits, target));

test('a challenge expires', async () => {
  const shortLived = await startSandbox({ host: '127.0.0.1', port: 0, challengeLifetimeMs: 50 });
  try {
    const { captcha, solve } = sandboxTarget(shortLived.urls);
    const challenge = await solve(captcha);
    await sleep(100);
    // As a failure or as an exception: the document has both (7.1, 7.2) and does not say which comes when.
    expectNoPass(await verify(captcha, challenge));
  } finally {
    await shortLived.stop();
  }
});

describe('the audit lists', () => {
  test('every id is unique', () => {
    const ids = everyAudit.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('every id begins with its document and section', () => {
    const prefixes = new Set(fingerprintAudits.map(({ id }) => id.slice(0, 3)));
    expect([...prefixes]).toEqual(['FP-']);
    for (const { id, section } of everyAudit) expect(id).toMatch(new RegExp(`^(FP|CA|SB)-${section}-.+`));
  });

  test.each([
    ['fingerprint', fingerprintAudits, FINGERPRINT_SECTIONS],
    ['captcha', captchaAudits, CAPTCHA_SECTIONS],
  ] as const)(
    'every section of the %s document that states rules is covered, and no other is cited',
    (_, audits, sections) => {
      expect([...new Set(audits.map(({ section }) => section))].sort()).toEqual([...sections].sort());
    },
  );

  test('none is inapplicable to the sandbox', () => {
    expect(everyAudit.filter(({ needs }) => missingNeeds(needs, target).length > 0)).toEqual([]);
  });
});
