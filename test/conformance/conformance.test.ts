import { afterAll, describe } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { requestAudits as captchaRequestAudits } from './captcha-request.ts';
import { resultAudits } from './captcha-result.ts';
import { accessAudits } from './fingerprint-access.ts';
import { requestAudits } from './fingerprint-request.ts';
import { responseAudits } from './fingerprint-response.ts';
import { liveTarget } from './live.ts';
import { sandboxTarget } from './sandbox.ts';
import { register } from './target.ts';

/** Every rule of both documents, against the sandbox, and against the vendor if the environment describes an account. */

const fingerprintAudits = [...requestAudits, ...responseAudits, ...accessAudits];
const captchaAudits = [...captchaRequestAudits, ...resultAudits];

// Started while tests are collected: the audits become tests only for a known target.
const sandbox = await startSandbox({ port: 0 });
afterAll(() => sandbox.stop());
const target = sandboxTarget(sandbox.urls);

describe('the sandbox keeps the fingerprint document', () => register(fingerprintAudits, target));
describe('the sandbox keeps the captcha document', () => register(captchaAudits, target));

const live = liveTarget(process.env);
if (live) {
  describe('the live vendor keeps the fingerprint document', () => register(fingerprintAudits, live));
  describe('the live vendor keeps the captcha document', () => register(captchaAudits, live));
}
