/** The commands to the upstream of the soak, and its answers. */

/**
 * Each service in each region has an address of its own. `bare` is for the load generator alone. A captcha service that fails in
 * one of four ways has an address for each, so that they can fail at the same time.
 */
export const ENDPOINTS = [
  'fingerprint-EU',
  'fingerprint-NA',
  'fingerprint-GLB',
  'captcha-EU',
  'captcha-refused',
  'captcha-reset',
  'captcha-503',
  'captcha-hang',
  'bare',
] as const;

export type Endpoint = (typeof ENDPOINTS)[number];

/** How an endpoint treats everything that reaches it, probes included. */
export interface Behaviour {
  /**
   * It answers after `latencyMs`, up to `spread` times as much earlier or later; resets the connection instead; never answers;
   * accepts no connection; or answers with that status, the 429 with `Retry-After`.
   */
  readonly mode: 'good' | 'reset' | 'hang' | 'refused' | '503' | '429';
  readonly latencyMs: number;
  readonly spread?: number;
  /** Of a 429, in seconds. */
  readonly retryAfter?: number;
  /** Closes connections that were idle for this long, in ms, and does not say so beforehand. */
  readonly idleMs?: number;
  /** Judges each challenge, once, and each captcha id, and has a firewall in front of it. Otherwise it passes everything. */
  readonly isStrict?: boolean;
}

export type Order =
  | { readonly order: 'addresses' }
  | { readonly order: 'behave'; readonly endpoint: Endpoint; readonly behaviour: Behaviour }
  | { readonly order: 'calls'; readonly endpoint: Endpoint };

/** Of each endpoint, and of `noise`: a GET of a path there makes noise at the captcha service in EU. */
export type Addresses = Readonly<Record<Endpoint | 'noise', string>>;

/** When it began to behave so, in ms since 1970. */
export interface Begun {
  readonly at: number;
}

/** What reached an endpoint. */
export interface Calls {
  /** Every call without the probes: when, in ms since 1970, and the number of its token or challenge. */
  readonly calls: readonly (readonly [at: number, number: number])[];
  /** When each probe arrived. */
  readonly probes: readonly number[];
}

/** The time in ms since 1970, finer than `Date.now()`. */
export function epochMs(): number {
  return performance.timeOrigin + performance.now();
}
