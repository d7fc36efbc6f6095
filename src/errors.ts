import { type ASTNode, GraphQLError } from 'graphql';

/** Who has to act when an error appears: the one who asked, the upstream's operator, or the operator of this subgraph. */
type Side = 'caller' | 'upstream' | 'operator';

interface Definition {
  readonly side: Side;
  /** Can the same request succeed later, unchanged? */
  readonly retryable: boolean;
  /** What the caller reads: what happened and what to do. Never anything internal, never the caller's own input. */
  readonly message: string;
}

/** Every failure that can leave this subgraph, once. The README's table is checked against this one. */
export const ERROR_CATALOGUE = {
  BAD_USER_INPUT: {
    side: 'caller',
    retryable: false,
    message: 'An argument is not acceptable. Correct it and send the request again.',
  },
  DEVICE_TOKEN_REJECTED: {
    side: 'caller',
    retryable: false,
    message:
      'The fingerprint service does not accept the device token of this reference. Let the client SDK make a new one.',
  },
  UPSTREAM_TIMEOUT: {
    side: 'upstream',
    retryable: true,
    message: 'The service behind this field did not answer in time. Try again later.',
  },
  UPSTREAM_UNAVAILABLE: {
    side: 'upstream',
    retryable: true,
    message: 'The service behind this field is not available. Try again later.',
  },
  UPSTREAM_REJECTED: {
    side: 'operator',
    retryable: false,
    message:
      'The service behind this field refused our credentials or configuration. The operator of this subgraph has to act.',
  },
  UPSTREAM_PROTOCOL_ERROR: {
    side: 'operator',
    retryable: false,
    message:
      'The service behind this field gave an answer that its contract does not allow. The operator of this subgraph has to act.',
  },
  OVERLOADED: {
    side: 'operator',
    retryable: true,
    message: 'This subgraph is at one of its own limits. Try again shortly.',
  },
  CANCELLED: {
    side: 'caller',
    retryable: true,
    message: 'The caller hung up before the answer was ready.',
  },
  UNAUTHENTICATED: {
    side: 'operator',
    retryable: false,
    message: 'Only the router may ask here. It has to send one of the configured secrets as Router-Authorization.',
  },
  BAD_REQUEST: {
    side: 'caller',
    retryable: false,
    message: 'The HTTP request is not a GraphQL request that this endpoint accepts.',
  },
  GRAPHQL_PARSE_FAILED: {
    side: 'caller',
    retryable: false,
    message:
      'The document is not valid GraphQL, or larger than this subgraph takes: reading it ended at the given location.',
  },
  GRAPHQL_VALIDATION_FAILED: {
    side: 'caller',
    retryable: false,
    message: 'A value in the document is not of the type that the schema expects at the given location.',
  },
  OPERATION_RESOLUTION_FAILURE: {
    side: 'caller',
    retryable: false,
    message: 'The request must name exactly one operation of its document.',
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    side: 'caller',
    retryable: false,
    message: 'Persisted queries are not supported here. Send the whole document.',
  },
  INTERNAL_SERVER_ERROR: {
    side: 'operator',
    retryable: false,
    message: 'Something went wrong inside this subgraph. The operator finds the cause in its log.',
  },
} as const satisfies Record<string, Definition>;

/** Everything that can stand in `extensions.code`. */
export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** Is this text one of our codes? Own keys only: `constructor` is none. */
export function isErrorCode(text: unknown): text is ErrorCode {
  return typeof text === 'string' && Object.hasOwn(ERROR_CATALOGUE, text);
}

interface Details {
  /** Replaces the catalogue's message, in words that are fit for any caller. */
  message?: string;
  /** For the log alone: what exactly happened. Never a secret, a token or personal data. */
  internal?: string | undefined;
  /** HTTP status of the answer when the whole request fails; an error of one field leaves it 200. */
  status?: number;
  /** Where in the document. */
  nodes?: readonly ASTNode[];
  /** Replaces the catalogue's. What the caller has to change cannot succeed unchanged, so it is not retryable then. */
  side?: Side;
}

/** A failure of the catalogue on its way to the caller. */
export class DeviceTrustError extends GraphQLError {
  readonly code: ErrorCode;
  /** For the log alone. */
  readonly internal: string | undefined;
  readonly side: Side;

  constructor(code: ErrorCode, { message, internal, status, nodes, side }: Details = {}) {
    const { message: standard, retryable, side: usual } = ERROR_CATALOGUE[code];
    super(message ?? standard, {
      nodes: nodes ?? null,
      extensions: { code, retryable: retryable && side !== 'caller', ...(status && { http: { status } }) },
    });
    this.name = 'DeviceTrustError';
    this.code = code;
    this.internal = internal;
    this.side = side ?? usual;
  }
}

/** Shorthand for input that is refused before any upstream call: says what was expected, without repeating the value. */
export function badUserInput(argument: string, expected: string, got: string): DeviceTrustError {
  return new DeviceTrustError('BAD_USER_INPUT', { message: `${argument}: expected ${expected}, but got ${got}.` });
}

/** Where an unexpected error came from. Its message is left out: it may quote what a caller or an upstream sent. */
export function framesOf(error: unknown): { name: string; frames: string[] } {
  if (!(error instanceof Error)) return { name: 'not an Error', frames: [] };
  const { name, message, stack = '' } = error;
  // The stack begins with the message, which may have lines that look like frames.
  const from = stack.indexOf(message);
  const lines = from < 0 ? [] : stack.slice(from + message.length).split('\n');
  return { name, frames: lines.map((line) => line.trim()).filter((line) => line.startsWith('at ')) };
}

/** What was thrown, as an Error: anything can be. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('rejected with something that is no Error');
}
