import type { Socket } from 'node:net';
import { type Behaviour, startHostile } from '../support/hostile.ts';

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

/** An upstream, and what has arrived there so far. */
export interface Target {
  readonly url: string;
  /** May be in no answer. */
  readonly port: number;
  /** Whole requests. */
  readonly requests: number;
  /** Connections on which at least one byte arrived. */
  readonly spokenTo: number;
  /** Connections that are open now. */
  readonly open: number;
  stop(): Promise<void>;
}

export interface Row {
  /** What the upstream does. */
  readonly fault: string;
  /** What it does to a request, if it takes connections and requests as usual. */
  readonly behave?: (material: Material) => Behaviour;
  /** Starts an upstream that does it; undefined where this system cannot. */
  readonly start: (material: Material) => Promise<Target | undefined>;
  /** For each client that it can befall: the code of the error, or data that holds at least this. */
  readonly expected: { readonly fingerprint?: UpstreamCode | object; readonly captcha?: object };
  /** Whole requests that arrive at the upstream. A second one would be a second event, or a second verification. */
  readonly calls: 0 | 1 | 'at most 1';
  /** Is the rest of the answer, or the lack of one, not waited for? Then the connection is closed. */
  readonly isCutOff?: boolean;
  /** Why, as the log has to say it. */
  readonly reason?: string;
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

/** A row for both clients, on a server that takes connections. */
export function noAnswer({ fault, code, behave, greet, captcha = NO_ANSWER, isCutOff = false }: Fault): Row {
  // What happens to every connection happens to those of probes as well.
  if (greet) {
    const start = (material: Material) => startHostile(behave(material), { greet });
    return { fault, start, expected: { fingerprint: code, captcha: NEVER_WORKED }, calls: 'at most 1' };
  }
  const start = (material: Material) => startHostile(behave(material));
  return { fault, behave, start, expected: { fingerprint: code, captcha }, calls: 1, isCutOff };
}

/** A row about what one service answers, and only that one can. */
export function answers(fault: string, behave: Behaviour, expected: Row['expected']): Row {
  return { fault, behave: () => behave, start: () => startHostile(behave), expected, calls: 1 };
}
