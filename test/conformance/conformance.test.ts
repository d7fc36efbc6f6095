import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { expectNoPass, verify } from './captcha-http.ts';
import { requestAudits as captchaRequestAudits } from './captcha-request.ts';
import { resultAudits } from './captcha-result.ts';
import { accessAudits } from './fingerprint-access.ts';
import { requestAudits } from './fingerprint-request.ts';
import { responseAudits } from './fingerprint-response.ts';
import { liveTarget } from './live.ts';
import { sandboxAudits, sandboxTarget } from './sandbox.ts';
import { missingNeeds, register } from './target.ts';

/** Every rule of both documents, against the sandbox, and against the vendor if the environment describes an account. */

const fingerprintAudits = [...requestAudits, ...responseAudits, ...accessAudits];
const captchaAudits = [...captchaRequestAudits, ...resultAudits];
const everyAudit = [...fingerprintAudits, ...captchaAudits, ...sandboxAudits];

/** The sections that state rules. 3 and 6 are "not shown"; 9 is about the version in the path, which every audit uses. */
const FINGERPRINT_SECTIONS = '1 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 4 5 7 8'.split(' ');
const CAPTCHA_SECTIONS = '1 2.1 2.2 2.3 2.4 4 5 7.1 7.2 7.3 8'.split(' ');

// Started while tests are collected: the audits become tests only for a known target.
const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
afterAll(() => sandbox.stop());
const target = sandboxTarget(sandbox.urls);

describe('the sandbox keeps the fingerprint document', () => register(fingerprintAudits, target));
describe('the sandbox keeps the captcha document', () => register(captchaAudits, target));
describe('the sandbox obeys its own controls', () => register(sandboxAudits, target));

const live = liveTarget(process.env);
if (live) {
  describe('the live vendor keeps the fingerprint document', () => register(fingerprintAudits, live));
  describe('the live vendor keeps the captcha document', () => register(captchaAudits, live));
}

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
  test('every id is unique, and begins with its document and section', () => {
    const ids = everyAudit.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const { id } of fingerprintAudits) expect(id).toMatch(/^FP-/);
    for (const { id, section } of everyAudit) expect(id).toMatch(new RegExp(`^(FP|CA|SB)-${section}-.+`));
  });

  test.each([
    ['fingerprint', fingerprintAudits, FINGERPRINT_SECTIONS],
    ['captcha', captchaAudits, CAPTCHA_SECTIONS],
  ])('every section of the %s document that states rules is covered, and no other is cited', (_, audits, sections) => {
    expect([...new Set(audits.map(({ section }) => section))].sort()).toEqual([...sections].sort());
  });

  test('none is inapplicable to the sandbox', () => {
    expect(everyAudit.filter(({ needs }) => missingNeeds(needs, target).length > 0)).toEqual([]);
  });
});
