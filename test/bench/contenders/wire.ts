import { createHmac } from 'node:crypto';
import { SIGNAL_CATALOGUE } from '../../../src/fingerprint/signals.ts';

/** The simplest honest mapping between the graph and the two services, shared by every contender but ours. No limits. */

/** Sends one POST, and gives the status and the parsed body of its answer. */
export type Post = (
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string,
) => Promise<{ status: number; json: unknown }>;

export interface FingerprintArguments {
  readonly token: string;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  readonly eventType?: string | null;
  readonly eventTime?: string | null;
}

export interface CaptchaInput {
  readonly lotNumber: string;
  readonly captchaOutput: string;
  readonly passToken: string;
  readonly genTime: string;
}

interface WireSignal {
  readonly signal: string;
  readonly level: string;
  readonly confidence: number;
}

interface WireJudgement {
  readonly request_id: string;
  readonly event_id: string;
  readonly fp_detail: { readonly device_id: string; readonly version: string };
  readonly signals: readonly WireSignal[];
  readonly detail: {
    readonly client_type: string;
    readonly device_basic: { readonly os: string; readonly pla: string; readonly mod: string; readonly osv: string };
    readonly ip_info: { readonly ip: string };
  };
}

interface WireErrors {
  readonly errors: readonly { readonly field: string; readonly reason: string; readonly type: string }[];
}

const CATALOGUE = new Map<string, (typeof SIGNAL_CATALOGUE)[number]>(SIGNAL_CATALOGUE.map((row) => [row.code, row]));
const FINGERPRINT_HEADERS = { authorization: 'Bearer sk_bench', 'content-type': 'application/json' };
const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };

/** Asks the fingerprint service; what comes back has its keys in the order of the benchmark's query. */
export async function judge(post: Post, { token, metadata, eventType, eventTime }: FingerprintArguments) {
  const body = JSON.stringify({
    device_token: token,
    metadata: metadata ? toWireMetadata(metadata) : undefined,
    event_type: eventType ?? undefined,
    event_time: eventTime ?? undefined,
  });
  const { status, json } = await post('/api/v2/fp_query/pk_bench', FINGERPRINT_HEADERS, body);
  // Sound: the upstream of the benchmark keeps to the document, and nothing else is ever asked.
  const { data } = json as { data: unknown };
  if (status === 400) return toRejected(data as WireErrors);
  if (status !== 200) throw new Error(`the fingerprint service answered ${status}`);
  return toJudged(data as WireJudgement);
}

/** `ipAddrV4` is `ip_addr_v4` on the wire, and so on for every documented key. */
function toWireMetadata(metadata: Readonly<Record<string, unknown>>) {
  const { additional, ...documented } = metadata;
  const renamed = Object.entries(documented).map(([key, value]) => [
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { ...Object.fromEntries(renamed), ...Object(additional) };
}

function toJudged({ request_id, event_id, fp_detail, signals, detail }: WireJudgement) {
  const { os, pla, mod, osv } = detail.device_basic;
  return {
    __typename: 'DeviceFingerprint' as const,
    publicKey: 'pk_bench',
    requestId: request_id,
    eventId: event_id,
    version: fp_detail.version,
    clientType: detail.client_type === 'Android' ? 'ANDROID' : 'IOS',
    device: { id: fp_detail.device_id },
    deviceBasic: {
      __typename: 'Mobile',
      os: { name: os, version: osv, additional: null },
      architecture: pla,
      model: mod,
    },
    ipInfo: { ip: detail.ip_info.ip },
    signals: signals.map(toSignal),
  };
}

function toSignal({ signal, level, confidence }: WireSignal) {
  const known = CATALOGUE.get(signal);
  return {
    name: signal,
    code: known?.code ?? null,
    level,
    confidence,
    effect: known?.effect ?? null,
    meaning: known?.meaning ?? null,
  };
}

function toRejected({ errors }: WireErrors) {
  return {
    __typename: 'DeviceFingerprintRejected' as const,
    reason: errors.some(({ field }) => field === 'device_token') ? 'INVALID_TOKEN' : 'INVALID_INPUT',
    errors: errors.map(({ field, reason, type }) => ({
      field: field === 'device_token' ? 'token' : field,
      reason,
      type,
    })),
  };
}

/** Asks the captcha service. */
export async function verify(post: Post, { lotNumber, captchaOutput, passToken, genTime }: CaptchaInput) {
  const form = new URLSearchParams({
    lot_number: lotNumber,
    captcha_output: captchaOutput,
    pass_token: passToken,
    gen_time: genTime,
    sign_token: createHmac('sha256', 'key_bench').update(lotNumber).digest('hex'),
  });
  const { json } = await post(`/validate?captcha_id=${'b'.repeat(32)}`, FORM_HEADERS, form.toString());
  // Sound: as above.
  const { result, captcha_args } = json as { result: string; captcha_args: Record<string, string> };
  if (result !== 'success') throw new Error('the captcha service gave no pass');
  const { used_type: usedType, user_ip: userIp, lot_number, scene, referer } = captcha_args;
  return {
    __typename: 'CaptchaPassed',
    proceed: true,
    details: { usedType, userIp, lotNumber: lot_number, scene, referer },
  };
}
