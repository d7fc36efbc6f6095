import { JudgementBox } from '../../src/fingerprint/judgement-box.ts';
import { judgement } from './answers.ts';
import { SEALING_KEY } from './production.ts';

/** Sealed judgements, as another subgraph would have stored them. */

/** Sealing costs the load generator time, so these come again; nothing of our server remembers one. */
const DIFFERENT = 1_000;
const JUDGED_AT = '2026-11-22T02:03:04Z';
const POLICY = 'policy-of-that-day';

const box = new JudgementBox('device-judgement+jwe', [SEALING_KEY]);
const sealed = new Map<number, string>();

export function sealedJudgement(number: number): string {
  const at = number % DIFFERENT;
  const text = sealed.get(at) ?? seal(at);
  sealed.set(at, text);
  return text;
}

/** A record of version 1 (`src/fingerprint/judgement-record.ts`). */
function seal(number: number): string {
  const { publicKey, requestId, eventId, version, device, ipInfo, clientType, deviceBasic, signals } =
    judgement(number);
  const { os, architecture, model } = deviceBasic;
  const text = box.seal(
    JSON.stringify({
      v: 1,
      at: JUDGED_AT,
      pk: publicKey,
      ids: [requestId, eventId, version, device.id],
      ip: ipInfo.ip,
      client: clientType,
      mobile: [os.name, os.version, architecture, model],
      signals: signals.map(({ name, level, confidence }) => [name, level, confidence]),
      decision: ['DENY', 'listed', POLICY],
    }),
  );
  if (text === undefined) throw new Error('a judgement of the benchmark cannot be sealed');
  return text;
}

/** What it opens to. */
export function sealedRecord(number: number) {
  const { __typename, deviceBasic, device, ipInfo, signals, ...scalars } = judgement(number % DIFFERENT);
  const { __typename: kind, ...phone } = deviceBasic;
  return {
    judgedAt: JUDGED_AT,
    subject: null,
    eventType: null,
    ...scalars,
    device,
    ipInfo,
    deviceBasic: phone,
    signals,
    decision: { action: 'DENY', rule: 'listed', policy: POLICY },
  };
}
