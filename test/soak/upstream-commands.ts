/** What the upstream of the soak can be told, and what it answers. */

/** A service in a region, each with an address of its own; and one that serves nobody but the load generator. */
export type Place = 'fingerprint-EU' | 'fingerprint-NA' | 'fingerprint-GLB' | 'captcha-EU' | 'bare';

export const PLACES: readonly Place[] = ['fingerprint-EU', 'fingerprint-NA', 'fingerprint-GLB', 'captcha-EU', 'bare'];

/** Answers after `latencyMs`, up to `spread` times as much earlier or later, resets the connection instead, or never answers. */
export interface Behaviour {
  readonly mode: 'good' | 'reset' | 'hang';
  readonly latencyMs: number;
  readonly spread?: number;
}

export type Order =
  | { readonly order: 'addresses' }
  | { readonly order: 'behave'; readonly place: Place; readonly behaviour: Behaviour }
  | { readonly order: 'calls'; readonly place: Place };

export type Addresses = Readonly<Record<Place, string>>;

/** When it began to behave so, in ms since 1970. */
export interface Begun {
  readonly at: number;
}

/** Every call that reached a place: when, in ms since 1970, and the number of its token or challenge. */
export type Calls = readonly (readonly [at: number, number: number])[];

/** The time in ms since 1970, finer than `Date.now()`. */
export function epochMs(): number {
  return performance.timeOrigin + performance.now();
}
