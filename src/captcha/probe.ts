import { randomBytes } from 'node:crypto';
import { judgeStatus, type Probe, type ProbeResult, WELL } from '../upstream/probe.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import {
  causeOfException,
  FORM_HEADERS,
  isDocumentedRejection,
  isJudgement,
  passBody,
  readException,
  readRejection,
  toForm,
} from './contract.ts';

/** A captcha id, as far as a probe needs it. */
interface ProbedCaptcha extends Pick<Probe, 'region' | 'origin' | 'path'> {
  readonly captchaKey: string;
}

/**
 * Asks about a made-up challenge with a correct signature: the service can reject the challenge, but it has no reason to
 * reject us. The lot number is random, so that no answer of a cache and no earlier challenge is in the way.
 */
export function captchaProbe({ captchaKey, region, origin, path }: ProbedCaptcha): Probe {
  const body = () => {
    const lotNumber = randomBytes(16).toString('hex');
    const genTime = String(Math.floor(Date.now() / 1_000));
    return toForm({ lotNumber, captchaOutput: MADE_UP, passToken: MADE_UP, genTime }, captchaKey);
  };
  return { region, origin, path, headers: FORM_HEADERS, body, judge: judgeCaptcha };
}

/** The operator of the service sees in it what the request is for. */
const MADE_UP = 'health-check-of-device-trust';

/** What an answer shows about the account and the service, whoever has asked (captcha document, section 7). */
export function judgeCaptcha({ status, json: body, unreadable }: UpstreamResponse): ProbeResult {
  // The service is not down, but nobody can tell what it says.
  if (unreadable !== undefined && status < 500) return { kind: 'inconclusive', reason: unreadable };
  const rejection = readRejection(body);
  if (rejection?.reason === 'illegal sign_token') return { kind: 'refused', reason: 'illegal sign_token' };
  if (isDocumentedRejection(body)) return WELL;
  if (rejection || isJudgement(body)) {
    if (passBody.safeParse(body).success) return WELL;
    // A judgement in another form comes from the service, or from a firewall that imitates one. It is no outage.
    return { kind: 'inconclusive', reason: 'an undocumented judgement' };
  }
  const exception = readException(body);
  if (!exception) return judgeStatus(status);
  const code = exception.code ?? '';
  // The risk type belongs to the challenge, not to the account.
  if (code === '-50001') return WELL;
  const cause = causeOfException(code);
  if (cause === 'CONFIGURATION') return { kind: 'refused', reason: code };
  return cause === 'SERVICE' ? { kind: 'failed', reason: `exception ${code}`.trim() } : WELL;
}
