import type { Socket } from 'node:net';
import { type Behaviour, type Hostile, startHostile } from '../support/hostile.ts';

/** The table of faults: what an upstream does, what must become of it, and how often it may be called. */

/** The codes that an upstream can cause, and whether they can be retried (schema/README.md, Errors). */
export const RETRYABLE = {
  UPSTREAM_TIMEOUT: true,
  UPSTREAM_UNAVAILABLE: true,
  UPSTREAM_REJECTED: false,
  UPSTREAM_PROTOCOL_ERROR: false,
} as const;

export type UpstreamCode = keyof typeof RETRYABLE;

/** What a fault may use in its answer. */
export interface Material {
  /** The documented good answer of the upstream. An app that does not notice the fault would report it. */
  readonly good: string;
  /** Address of a bystander, which must never be called. */
  readonly elsewhere: string;
}

export interface Row {
  /** What the upstream does. */
  readonly fault: string;
  /** Starts an upstream that does it. */
  readonly start: (material: Material) => Promise<Hostile>;
  /** For each client that it can befall: the code of the error, or data that holds at least this. */
  readonly expected: { readonly fingerprint?: UpstreamCode | object; readonly captcha?: object };
  /** Whole requests that arrive at the upstream. A second one would be a second event, or a second verification. */
  readonly calls: 1 | 'at most 1';
  /** Is the rest of the answer, or the lack of one, not waited for? Then the connection is closed. */
  readonly isCutOff?: boolean;
}

/** There is no verdict. It proceeds only if probes fail as well, and those of the table are answered. */
export const NO_ANSWER = {
  __typename: 'CaptchaIndeterminate',
  cause: 'TRANSPORT',
  proceed: false,
  code: null,
  type: null,
};
/**
 * There is no verdict, and a bot can provoke a bare 4xx, or what came may hold a rejection that nobody can read: it does not
 * proceed in an outage either.
 */
export const REFUSAL = { ...NO_ANSWER, cause: 'CLIENT' };
/** The service has never answered this process, so the address or the account is wrong: it never proceeds. */
export const NEVER_WORKED = { ...NO_ANSWER, cause: 'CONFIGURATION' };

/** A fault that leaves no usable answer, whichever service it befalls. */
interface Fault {
  readonly fault: string;
  readonly code: UpstreamCode;
  readonly behave: (material: Material) => Behaviour;
  /** What happens to a connection before anything was read from it. */
  readonly greet?: (socket: Socket) => void;
  readonly captcha?: object;
  readonly isCutOff?: boolean;
}

/** A row for both clients. */
export function noAnswer({ fault, code, behave, greet, captcha = NO_ANSWER, isCutOff = false }: Fault): Row {
  const start = (material: Material) => startHostile(behave(material), { greet });
  // What happens to every connection happens to those of probes as well.
  if (greet) return { fault, start, expected: { fingerprint: code, captcha: NEVER_WORKED }, calls: 'at most 1' };
  return { fault, start, expected: { fingerprint: code, captcha }, calls: 1, isCutOff };
}

/** A row about what one service answers, and only that one can. */
export function answers(fault: string, behave: Behaviour, expected: Row['expected']): Row {
  return { fault, start: () => startHostile(behave), expected, calls: 1 };
}
