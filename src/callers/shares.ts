/** The callers of a process, which share its capacity. */
export interface Callers {
  readonly hasRouter: boolean;
  /** The names of the services, each with its own limits of calls, if any. */
  readonly services: ReadonlyMap<string, Readonly<Record<string, number | undefined>> | undefined>;
}

/**
 * The shares of a capacity or limit that services may hold, so that they starve neither the router nor each other. `together` is
 * half of the total, or all of it without a router. `each` is half of `together`, or all of it for one service. Both are at least 1.
 */
export function sharesOf(total: number, { hasRouter, services }: Callers) {
  const together = Math.max(hasRouter ? total / 2 : total, 1);
  return { together, each: services.size > 1 ? Math.max(together / 2, 1) : together };
}

/** The amounts that callers hold of one capacity: all callers together, services together, and each service. */
export class SharedCount {
  #all = 0;
  #ofServices = 0;
  readonly #ofEach = new Map<string, number>();

  /** May this caller hold `amount` more of a total? Callers other than services leave `reserved` of it to services. */
  hasRoom(
    total: number,
    shares: ReturnType<typeof sharesOf>,
    { name, isService }: Holder,
    amount: number,
    reserved = 0,
  ): boolean {
    if (this.#all + amount > total) return false;
    if (!isService) return this.#all - this.#ofServices + amount <= total - reserved;
    const own = (this.#ofEach.get(name) ?? 0) + amount;
    return this.#ofServices + amount <= shares.together && own <= shares.each;
  }

  /** Adds an amount, which is negative if the caller gives it back. */
  add({ name, isService }: Holder, amount: number): void {
    this.#all += amount;
    if (!isService) return;
    this.#ofServices += amount;
    const own = (this.#ofEach.get(name) ?? 0) + amount;
    if (own > 0) this.#ofEach.set(name, own);
    else this.#ofEach.delete(name);
  }
}

/** `anonymous`: the header that names the requester is missing; `untracked`: no such header is configured. */
export interface Requester {
  readonly kind: 'person' | 'network' | 'anonymous' | 'untracked';
  /** Distinguishes the requesters of one kind; empty for `anonymous` and `untracked`. */
  readonly id: string;
}

/** A caller as the limits and shares of a capacity count it. */
export interface Holder {
  /** The router, a service of SERVICES by its name, or anyone if no secret is configured. */
  readonly name: string;
  /** Without any secret, every caller has the limits of the router. */
  readonly isService: boolean;
  /** The person or network behind it; undefined where only the caller counts. */
  readonly requester?: Requester | undefined;
}

/** The part of a shared capacity that one request or connection has reserved. */
export interface Reservation {
  /** Takes this amount. Returns false, and takes nothing, if the caller's share has no room now. */
  take(amount: number): boolean;
  release(): void;
}

/** A capacity for all callers. Services can hold only their shares, which are reserved for them. */
export function shareCapacity(total: number, callers: Callers): (caller: Holder) => Reservation {
  const held = new SharedCount();
  const shares = sharesOf(total, callers);
  const reserved = callers.services.size > 0 ? shares.together : 0;
  return (caller) => {
    let taken = 0;
    return {
      take: (amount) => {
        if (!held.hasRoom(total, shares, caller, amount, reserved)) return false;
        taken += amount;
        held.add(caller, amount);
        return true;
      },
      release: () => {
        held.add(caller, -taken);
        taken = 0;
      },
    };
  };
}
