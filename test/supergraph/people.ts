import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Person } from './subgraph-headers.ts';

/** Who asks the gateways of the example, which have no passwords. */

/** Reads a header of the request that a gateway received. */
export type HeaderOf = (name: string) => string | undefined;

/**
 * Says who sent a request, from its headers; undefined if nobody is signed in, and then a gateway answers nothing. A company
 * verifies a session here.
 */
export type Identify = (headerOf: HeaderOf) => Person | undefined;

/** Everybody who asks the shop is Ada, who may see nothing that needs a scope. */
export const asCustomer: Identify = () => ({ id: 'user-1', scopes: '' });

/** Who may ask about devices, or not. */
export const STAFF: Readonly<Record<string, Person>> = {
  /** Grace, an analyst. */
  grace: { id: 'staff-grace', scopes: 'risk:read' },
  /** Ada of support, who may see orders but nothing about devices. */
  ada: { id: 'staff-ada', scopes: '' },
};

/** Sessions of the staff, in memory: a restart signs everybody out. */
export interface Sessions {
  /** Starts a session of somebody of `STAFF`, and gives its token; undefined if there is no such person. */
  signIn(name: string): string | undefined;
  /** Finds the person by `Authorization: Bearer TOKEN`. */
  readonly identify: Identify;
}

export function createSessions(): Sessions {
  const people = new LRUCache<string, Person>({ max: 1_000 });
  return {
    signIn: (name) => {
      const person = Object.hasOwn(STAFF, name) ? STAFF[name] : undefined;
      if (!person) return undefined;
      const token = randomBytes(32).toString('base64url');
      people.set(token, person);
      return token;
    },
    // No cookie carries the token: a browser would send it to every port of this address, and so to the shop's gateway.
    identify: (headerOf) => people.get(headerOf('authorization')?.replace(/^Bearer /i, '') ?? ''),
  };
}
