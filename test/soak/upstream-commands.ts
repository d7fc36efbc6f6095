/** The commands to the upstream of the soak, and its answers. */

/** Each service in each region has an address of its own. `bare` is for the load generator alone. */
export type Endpoint = 'fingerprint-EU' | 'fingerprint-NA' | 'fingerprint-GLB' | 'captcha-EU' | 'bare';

export const ENDPOINTS: readonly Endpoint[] = [
  'fingerprint-EU',
  'fingerprint-NA',
  'fingerprint-GLB',
  'captcha-EU',
  'bare',
];

/** Answers after `latencyMs`, up to `spread` times as much earlier or later, resets the connection instead, or never answers. */
export interface Behaviour {
  readonly mode: 'good' | 'reset' | 'hang';
  readonly latencyMs: number;
  readonly spread?: number;
}

export type Order =
  | { readonly order: 'addresses' }
  | { readonly order: 'behave'; readonly endpoint: Endpoint; readonly behaviour: Behaviour }
  | { readonly order: 'calls'; readonly endpoint: Endpoint };

export type Addresses = Readonly<Record<Endpoint, string>>;

/** When it began to behave so, in ms since 1970. */
export interface Begun {
  readonly at: number;
}

/** Every call that reached an endpoint: when, in ms since 1970, and the number of its token or challenge. */
export type Calls = readonly (readonly [at: number, number: number])[];

/** The time in ms since 1970, finer than `Date.now()`. */
export function epochMs(): number {
  return performance.timeOrigin + performance.now();
}
