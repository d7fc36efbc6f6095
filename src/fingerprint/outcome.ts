import { DeviceTrustError, type ErrorCode } from '../errors.ts';
import { describeIssues, loggableMessage } from '../runtime/json.ts';
import type {
  DeviceFieldError,
  DeviceFingerprint,
  DeviceFingerprintRejected,
  FingerprintDevice,
  IpInfo,
  Mobile,
  Signal,
  Web,
} from '../schema.generated.ts';
import type { Reading } from '../upstream/client.ts';
import type { Evidence } from '../upstream/health-table.ts';
import { evidenceOfStatus, type ProbeResult } from '../upstream/probe.ts';
import type { UpstreamResponse } from '../upstream/transport.ts';
import {
  anyEnvelope,
  CLIENT_TYPES,
  type FingerprintData,
  invalidRequestEnvelope,
  METADATA_KEYS,
  REFUSALS,
  successEnvelope,
  type WireFieldError,
} from './contract.ts';
import type { Drift } from './metrics.ts';
import type { FingerprintRequest } from './request.ts';
import { isLevel, SIGNALS_BY_NAME } from './signal-catalogue.ts';

/** A device in the shape of the graph with all its signals, so that resolvers have nothing left to look up. */
export type JudgedDevice = Omit<DeviceFingerprint, 'device' | 'deviceBasic' | 'ipInfo' | 'judgement' | 'signals'> & {
  __typename: 'DeviceFingerprint';
  device: FingerprintDevice;
  ipInfo: IpInfo;
  /** The business event of the query; undefined for a reference of another subgraph. */
  eventType: string | undefined;
  /** When the service answered, in ms since 1970. */
  respondedAt: number;
  signals: Signal[];
  deviceBasic: (Mobile & { __typename: 'Mobile' }) | (Web & { __typename: 'Web' }) | null;
};

/** A difference from the document, with the word that the document does not have. */
type Difference = readonly [kind: Drift, word?: string];

/** The two outcomes that are data. Everything else is an error. */
export type FingerprintOutcome = JudgedDevice | Rejection;
type Rejection = DeviceFingerprintRejected & { __typename: 'DeviceFingerprintRejected' };

/** Interprets a response (document, 2 and 7). No other function does. */
function meaningOf(
  { status, json, unreadable }: UpstreamResponse,
  ofApplication = '',
): Reading<FingerprintData | readonly WireFieldError[]> {
  const error = (code: ErrorCode, evidence: Evidence, details: ConstructorParameters<typeof DeviceTrustError>[1]) => ({
    result: new DeviceTrustError(code, details),
    evidence,
    outcome: undefined,
  });
  const undocumented = (internal: string | undefined) =>
    error('UPSTREAM_PROTOCOL_ERROR', evidenceOfStatus(status), { internal });
  const success = status === 200 ? successEnvelope.safeParse(json) : undefined;
  if (success?.data) return { result: success.data.data, evidence: 'well', outcome: 'ok' };
  const envelope = anyEnvelope.safeParse(json).data;
  // Section 4, rule 1.
  if (envelope && envelope.code !== status) return undocumented(`HTTP status ${status} with code ${envelope.code}`);
  if (success) return undocumented(unreadable ?? describeIssues(success.error));
  if (status === 400) {
    const { data: rejection, error } = invalidRequestEnvelope.safeParse(json);
    if (rejection) return { result: rejection.data.errors, evidence: 'answered', outcome: 'rejected' };
    return undocumented(describeIssues(error));
  }
  const message = loggableMessage(envelope?.message);
  const refusal = REFUSALS.get(status);
  if (refusal !== undefined) {
    const internal = `HTTP status ${status}${ofApplication}${message}`;
    if (envelope?.message === refusal) return error('UPSTREAM_REJECTED', 'refused', { internal });
    // It may come from a firewall, which a bot can provoke. A probe finds our own mistakes.
    const details = { internal, side: 'upstream', message: NO_ENVELOPE } as const;
    return error('UPSTREAM_REJECTED', evidenceOfStatus(status), details);
  }
  const internal = `HTTP status ${status}${message}`;
  // 429 is not documented, but a later request may succeed.
  if (status >= 500 || status === 429) return error('UPSTREAM_UNAVAILABLE', evidenceOfStatus(status), { internal });
  return undocumented(internal);
}

const NO_ENVELOPE =
  'The service behind this field, or a firewall before it, refused the request. The operator of that service has to act.';

/** The reading of a response to a query, and the differences of its device from the document. */
export function interpret(
  request: FingerprintRequest,
  response: UpstreamResponse,
  respondedAt: number,
): Reading<FingerprintOutcome> & { readonly differences: readonly Difference[] } {
  const { result, ...meaning } = meaningOf(response, ` for application ${request.account.id}`);
  if (result instanceof DeviceTrustError) return { ...meaning, result, differences: [] };
  if ('detail' in result)
    return { ...meaning, result: toDevice(request, result, respondedAt), differences: differencesOf(result) };
  return { ...meaning, result: toRejection(result), differences: [] };
}

/** The evidence of an answer to a probe. */
export function probeResultOf(response: UpstreamResponse): ProbeResult {
  const { result, evidence } = meaningOf(response);
  const reason = result instanceof DeviceTrustError ? (result.internal ?? result.code) : '';
  return { evidence, reason };
}

/** The outcome for a token or another argument that the service refuses (document, section 7, status 400). */
export function toRejection(wireErrors: readonly WireFieldError[]): Rejection {
  const errors = wireErrors.map(toFieldError);
  const reason = errors.some(({ field }) => field === 'token') ? 'INVALID_TOKEN' : 'INVALID_INPUT';
  return { __typename: 'DeviceFingerprintRejected', reason, errors };
}

const ARGUMENT_NAMES: ReadonlyMap<string, string> = new Map([
  ['device_token', 'token'],
  ['event_type', 'eventType'],
  ['event_time', 'eventTime'],
  ...METADATA_KEYS.flatMap(([ours, wire]): [string, string][] => [
    [wire, `metadata.${ours}`],
    [`metadata.${wire}`, `metadata.${ours}`],
  ]),
]);

/** The document does not say how `field` names a nested field (2.10), so every usual spelling is understood. */
function toFieldError({ field, reason, type }: WireFieldError): DeviceFieldError {
  const name = field.replace(/^body\./, '');
  return { field: ARGUMENT_NAMES.get(name) ?? name.replace(/^metadata\./, 'metadata.additional.'), reason, type };
}

function toDevice(
  { account, token, eventType }: FingerprintRequest,
  { request_id, event_id, fp_detail, signals, detail }: FingerprintData,
  respondedAt: number,
): JudgedDevice {
  return {
    __typename: 'DeviceFingerprint',
    eventType,
    respondedAt,
    token,
    publicKey: account.id,
    requestId: request_id,
    eventId: event_id,
    version: fp_detail.version,
    clientType: CLIENT_TYPES[detail.client_type],
    device: { id: fp_detail.device_id },
    deviceBasic: toDeviceBasic(detail),
    ipInfo: { ip: detail.ip_info.ip },
    signals: signals.map(({ signal: name, level, confidence }) =>
      // A newer level may be the most serious one.
      toSignal({ name, level: isLevel(level) ? level : 'HIGH', confidence }),
    ),
  };
}

function toDeviceBasic(detail: FingerprintData['detail']): JudgedDevice['deviceBasic'] {
  if (detail.client_type === 'OTHER') return null;
  if (detail.client_type === 'Web/H5') {
    const { browser, device, os } = detail.device_basic;
    return {
      __typename: 'Web',
      browser: pick(browser, ['name', 'version', 'major']),
      device: pick(device, ['model', 'vendor']),
      os: pick(os, ['name', 'version']),
    };
  }
  const { os: name, osv: version, pla: architecture, mod: model } = detail.device_basic;
  return { __typename: 'Mobile', os: { name, version }, architecture, model };
}

/** Picks the texts that have a field in the graph. All other values (2.7) become `additional`. */
function pick<Name extends string>(object: Record<string, unknown>, names: readonly Name[]) {
  const picked: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'string') picked[name] = value;
  }
  // Entries keep a key such as `__proto__`, which an assignment would make the prototype.
  const others = Object.entries(object).filter(([key]) => !Object.hasOwn(picked, key));
  return others.length > 0 ? { ...picked, additional: Object.fromEntries(others) } : picked;
}

export function toSignal(signal: Pick<Signal, 'name' | 'level' | 'confidence'>): Signal {
  const { code = null, effect = null, meaning = null } = SIGNALS_BY_NAME.get(signal.name) ?? {};
  return { ...signal, code, effect, meaning };
}

/** The differences of a device from the document: its client type (2.6), and each signal from the catalogue (2.9). */
function differencesOf({ detail, signals }: FingerprintData): Difference[] {
  const found: Difference[] = detail.client_type === 'OTHER' ? [['client_type', detail.word]] : [];
  for (const { signal, level, confidence } of signals) {
    const documented = SIGNALS_BY_NAME.get(signal);
    if (!documented) found.push(['unknown_signal', signal]);
    if (!isLevel(level)) found.push(['level', level]);
    else if (documented && documented.level !== level) found.push(['level']);
    else if (documented && documented.confidence !== confidence) found.push(['confidence']);
  }
  return found;
}
