import { afterAll, afterEach, expect } from 'vitest';

/** What must never happen in the process, whatever the upstreams do. */

/** Watches, for the rest of the test file, for failures that nobody handles. */
export function expectNothingUnhandled(): void {
  const failures: unknown[] = [];
  const keep = (failure: unknown) => failures.push(failure);
  process.on('unhandledRejection', keep).on('uncaughtException', keep);
  afterEach(() => expect(failures).toEqual([]));
  afterAll(() => process.off('unhandledRejection', keep).off('uncaughtException', keep));
}

/** What a call can leave behind. */
const KINDS = /^(TCP|TLS|Timeout|GetAddrInfo)/;

/** Sockets, servers, timers and look-ups of names that keep this process busy now, counted by kind. */
export function heldResources(): Record<string, number> {
  const held: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) if (KINDS.test(kind)) held[kind] = (held[kind] ?? 0) + 1;
  return held;
}

/** Fails if more is held than before after 5 s, because sockets take a moment to close. */
export async function expectNothingLeft(before: Record<string, number>): Promise<void> {
  const surplus = () => Object.entries(heldResources()).filter(([kind, count]) => count > (before[kind] ?? 0));
  for (const end = performance.now() + 5_000; surplus().length > 0 && performance.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(surplus()).toEqual([]);
}
