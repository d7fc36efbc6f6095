import { judgeStatus, type Probe, type ProbeResult, WELL } from '../upstream/probe.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import { anyEnvelope, invalidRequestEnvelope, successEnvelope } from './contract.ts';
import { type Application, toBody } from './request.ts';

/** Asks about an empty token. The service refuses it after it has checked our credentials (document, section 8). */
export function fingerprintProbe({ region, origin, path, headers }: Application): Probe {
  return { region, origin, path, headers, body: () => toBody({ token: '' }), judge };
}

/** Documented answers are the success and the 400 about the token; 401, 403 and 404 blame us (section 7). */
function judge({ status, json }: UpstreamResponse): ProbeResult {
  if (status === 200 && successEnvelope.safeParse(json).success) return WELL;
  if (status === 400 && invalidRequestEnvelope.safeParse(json).success) return WELL;
  const envelope = anyEnvelope.safeParse(json).data;
  if (envelope && envelope.code !== status) {
    return { kind: 'failed', reason: `HTTP status ${status} with code ${envelope.code}` };
  }
  return judgeStatus(status);
}
