import { GraphQLError } from 'graphql';

/** The side that has to act on an error: the caller, the operator of the upstream service, or our own operator. */
export type Side = 'caller' | 'upstream' | 'operator';

interface Definition {
  readonly side: Side;
  /** Can the same request succeed later? */
  readonly retryable: boolean;
  /** For the caller: what happened and what to do. It contains neither internals nor the caller's input. */
  readonly message: string;
  /** The only slice with this error; undefined if any slice can have it. */
  readonly slice?: string;
}

/** A retry of the same request repeats a `permanent` error, and can succeed after a `transient` one. */
const permanent = (side: Side, message: string): Definition => ({ side, retryable: false, message });
const ofSlice = (slice: string, message: string): Definition => ({ ...permanent('caller', message), slice });
const transient = (side: Side, message: string): Definition => ({ side, retryable: true, message });

/** Every error that this subgraph can answer with. A test compares the table of schema/README.md with it. */
export const ERROR_CATALOGUE = {
  BAD_USER_INPUT: permanent('caller', 'An argument is not valid. Correct it and send the request again.'),
  DEVICE_TOKEN_REJECTED: ofSlice(
    'fingerprint',
    'The fingerprint service does not accept the device token of this reference. Create a new one with the client SDK.',
  ),
  JUDGEMENT_UNREADABLE: ofSlice(
    'fingerprint',
    'This judgement cannot be opened: it was altered, or the key that sealed it is no longer in use. A retry does not help.',
  ),
  NOT_CONFIGURED: permanent(
    'operator',
    'This needs something that is not configured in this subgraph. Its operator has to act.',
  ),
  UPSTREAM_TIMEOUT: transient('upstream', 'The service behind this field did not answer in time. Try again later.'),
  UPSTREAM_UNAVAILABLE: transient('upstream', 'The service behind this field is not available. Try again later.'),
  UPSTREAM_REJECTED: permanent(
    'operator',
    'The service behind this field refused our credentials or configuration. The operator of this subgraph has to act.',
  ),
  UPSTREAM_PROTOCOL_ERROR: permanent(
    'upstream',
    'The service behind this field sent a response that its contract does not allow. The operator of that service has to act.',
  ),
  OVERLOADED: transient('operator', 'This subgraph has reached one of its own limits. Try again shortly.'),
  QUOTA_EXCEEDED: transient(
    'operator',
    'The quota of calls to the service behind this field is used up. Try again later.',
  ),
  RATE_LIMITED: transient(
    'caller',
    'This person, or this network, has made as many calls to the service behind this field as it may in a minute. Try again in a minute.',
  ),
  CANCELLED: transient('caller', 'The client disconnected before the response was ready.'),
  UNAUTHENTICATED: permanent(
    'operator',
    'Only the router and known services may send requests to this subgraph. The router has to send one of its secrets in the Router-Authorization header, and a service its own secret as a bearer token.',
  ),
  FORBIDDEN: permanent('caller', 'This request may not select this field.'),
  BAD_REQUEST: permanent('caller', 'The HTTP request is not a GraphQL request that this endpoint accepts.'),
  GRAPHQL_PARSE_FAILED: permanent(
    'caller',
    'The document is not valid GraphQL, or it is larger than this subgraph accepts. Parsing stopped at the given location.',
  ),
  GRAPHQL_VALIDATION_FAILED: permanent(
    'caller',
    'A value in the document does not have the type that the schema expects at the given location.',
  ),
  OPERATION_RESOLUTION_FAILURE: permanent('caller', 'The request must name exactly one operation of its document.'),
  PERSISTED_QUERY_NOT_SUPPORTED: permanent('caller', 'Persisted queries are not supported. Send the whole document.'),
  INTERNAL_SERVER_ERROR: permanent(
    'operator',
    'An unexpected error occurred inside this subgraph. The operator finds the cause in its log.',
  ),
} as const satisfies Record<string, Definition>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The codes that a process with these slices can answer with. */
export function codesOf(slices: readonly string[]): ErrorCode[] {
  const definitions = Object.entries<Definition>(ERROR_CATALOGUE);
  const possible = definitions.filter(([, { slice }]) => slice === undefined || slices.includes(slice));
  return possible.map(([code]) => code).filter(isErrorCode);
}

/** Is this value a code of the catalogue? A name that every object has, such as `constructor`, is not. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_CATALOGUE, value);
}

/**
 * The reason for a failed call, if this subgraph acts on the reason:
 * - `outage`: the call was not sent, because the service is down.
 * - `pause`: the call was not sent, because its account is paused, which is not the service's fault.
 * - `unknown_host`: the host of the service does not exist.
 * - `unreadable`: a 200 has arrived incomplete.
 * - `bodiless`: the head of a 200 has arrived in time, but nothing of its body.
 * - `incomplete`: a response was cut off before its status.
 */
type FailedCall = 'outage' | 'pause' | 'unknown_host' | 'unreadable' | 'bodiless' | 'incomplete';

interface Details {
  /** Replaces the catalogue's message. Any caller may read it. */
  message?: string;
  /** Details for the log alone. Never a secret, a token or personal data. */
  internal?: string | undefined;
  readonly why?: FailedCall | undefined;
  /** Replaces the catalogue's side. An error is never retryable if the caller has to act on it. */
  side?: Side | undefined;
  /** Replaces the catalogue's value. */
  retryable?: false;
}

/** An error of the catalogue, without stack frames: they would take most of the time of a request with 1,000 rejected tokens. */
export class DeviceTrustError extends GraphQLError {
  readonly code: ErrorCode;
  readonly internal: string | undefined;
  readonly why: FailedCall | undefined;
  readonly side: Side;

  constructor(code: ErrorCode, { message, internal, why, side, retryable: override }: Details = {}) {
    const { message: standard, retryable, side: usual } = ERROR_CATALOGUE[code];
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message ?? standard, {
      extensions: { code, retryable: retryable && override !== false && side !== 'caller' },
    });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'DeviceTrustError';
    this.code = code;
    this.internal = internal;
    this.why = why;
    this.side = side ?? usual;
  }
}

/** The error for an invalid argument, without its value. `variable` names the setting that may lack a valid value. */
export function badUserInput(argument: string, expected: string, got: string, variable?: string): DeviceTrustError {
  const hint = variable ? ` If it is right, the operator of this subgraph has to add it to ${variable}.` : '';
  const message = `${argument}: expected ${expected}, but got ${got}.${hint}`;
  return new DeviceTrustError('BAD_USER_INPUT', { message });
}

/** The longest text of a caller for an upstream, in bytes of UTF-8. No client SDK makes a token that is nearly as long. */
const MAX_TEXT_BYTES = 16_384;
/** Completes the sentence "expected …" for a text. */
export const TEXT_EXPECTATION = `a Unicode text of at most ${MAX_TEXT_BYTES} bytes in UTF-8`;

/** Can an upstream get this text unchanged? Half of a surrogate pair has no UTF-8: sent as U+FFFD, two texts would be one. */
export function isText(text: string): boolean {
  return text.isWellFormed() && Buffer.byteLength(text) <= MAX_TEXT_BYTES;
}

/** @throws BAD_USER_INPUT for a text that is too long, or has half of a surrogate pair */
export function checkText(argument: string, text: string): void {
  if (isText(text)) return;
  const got = text.isWellFormed() ? `one of ${Buffer.byteLength(text)}` : 'one with half of a surrogate pair';
  throw badUserInput(argument, TEXT_EXPECTATION, got);
}

/** The error for a feature (in the plural) without its variables. Any bot can cause it, so it counts as the caller's. */
export function notConfigured(feature: string, variables: string): DeviceTrustError {
  const message = `${feature} are not configured in this subgraph. Its operator has to set ${variables}.`;
  return new DeviceTrustError('NOT_CONFIGURED', { message, side: 'caller' });
}

/** The name, code and stack frames of an error. Its message is left out: it may quote a caller or an upstream. */
export function framesOf(error: unknown): { name: string; code?: string; frames: string[] } {
  if (!(error instanceof Error)) return { name: 'not an Error', frames: [] };
  const { name, message, stack = '' } = error;
  const code = 'code' in error && /^[A-Z\d_]{1,40}$/.test(`${error.code}`) && { code: `${error.code}` };
  // The stack begins with the message, and lines of the message may look like frames.
  const from = stack.indexOf(message);
  const lines = from < 0 ? [] : stack.slice(from + message.length).split('\n');
  return { name, ...code, frames: lines.map((line) => line.trim()).filter((line) => line.startsWith('at ')) };
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('expected an Error, but got another value');
}
