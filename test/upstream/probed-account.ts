import { type Lookup, Resolver } from '../../src/runtime/dns.ts';
import { AccountHealth } from '../../src/upstream/health.ts';
import { answer, type Behaviour, startHostile } from '../support/hostile.ts';
import { probeOf } from './support.ts';

/** An account whose probes reach a real server, which does to them what a test says. */

export const well = answer(200, '{}');
export const down = answer(503, '');

interface Options {
  readonly timeoutMs?: number;
  readonly lookup?: Lookup;
  readonly totalLagMs?: () => number;
}

/** Makes what starts accounts. `stop` stops all of them. */
export function accountStarter() {
  const closers: (() => unknown)[] = [];

  /** An account whose service does to each probe, counted from 1, what the test says. */
  async function startAccount(behave: Behaviour, { timeoutMs = 1_000, lookup, totalLagMs = () => 0 }: Options = {}) {
    const sentAt: number[] = [];
    const upstream = await startHostile((exchange) => {
      sentAt.push(performance.now());
      behave(exchange);
    });
    const resolver = new Resolver(lookup);
    const changes: string[] = [];
    const url = lookup ? `http://upstream.example:${upstream.port}` : upstream.url;
    const health = new AccountHealth(
      'a',
      probeOf(url),
      { resolver, eventLoop: { totalLagMs }, timeoutMs },
      (changed) => {
        const { state, reason } = changed.finding;
        changes.push(reason ? `${state}: ${reason}` : state);
      },
    );
    closers.push(
      upstream.stop,
      () => resolver.close(),
      () => health.close(),
    );
    return { upstream, sentAt, changes, health, stateIs: () => health.finding.state };
  }

  return { startAccount, stop: () => Promise.all(closers.map((close) => close())) };
}

/** What each probe gets, in this order; the last one again and again. */
export const inTurn =
  (...behaviours: readonly Behaviour[]): Behaviour =>
  (exchange) =>
    behaviours[Math.min(exchange.nth, behaviours.length) - 1]?.(exchange);

/** The time between two probes, for each pair that follow each other, in ms. */
export const gapsOf = (times: readonly number[]) => times.slice(1).map((time, at) => time - (times[at] ?? 0));
