import { type Lookup, Resolver } from '../../src/runtime/dns.ts';
import { type CallContext, Cancellation } from '../../src/upstream/call-context.ts';
import { createUpstreamClient, type UpstreamOptions } from '../../src/upstream/client.ts';
import { AccountHealth } from '../../src/upstream/health.ts';
import { judgeStatus, type Probe, WELL } from '../../src/upstream/probe.ts';
import type { UpstreamResponse } from '../../src/upstream/transport.ts';
import { answer, type Behaviour, startHostile } from '../support/hostile.ts';

/** A client of an upstream service that limits, measures and reports nothing, except for what a test says. */
export function createTestClient(options: Partial<UpstreamOptions>) {
  return createUpstreamClient({
    service: 'test',
    probes: [],
    check: 'off',
    graceMs: 0,
    timeoutMs: 5_000,
    onChange: () => {},
    resolver: new Resolver(),
    upstreamMaxInFlight: 10,
    upstreamMaxQueue: 10,
    eventLoop: { totalLagMs: () => 0 },
    onCall: () => {},
    quotaLimits: undefined,
    quotaStore: undefined,
    onQuotaRefused: () => {},
    ...options,
  });
}

/** The context of an operation of its own, with the calls that it has counted. */
export function createContext(startSpan?: CallContext['startSpan']) {
  const calls: number[] = [];
  const recordCall = (ms: number) => void calls.push(ms);
  return { requestId: 'r', cancellation: new Cancellation(), recordCall, startSpan, calls };
}

/** A POST without content to this address. */
export function requestTo(origin: string, context: CallContext, timeoutMs = 5_000) {
  return {
    region: 'GLB',
    account: 'a',
    origin,
    path: '/',
    pathTemplate: '/',
    headers: {},
    body: '',
    timeoutMs,
    context,
  };
}

/** A probe of this address, whose body is the one of no caller. Any response with status 200 is good. */
export function probeOf(origin: string, judge: Probe['judge'] = judge200): Probe {
  return { region: 'GLB', origin, path: '/probe', headers: {}, body: () => 'probe', judge };
}

function judge200({ status }: UpstreamResponse) {
  return status === 200 ? WELL : judgeStatus(status);
}

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

  return {
    startAccount,
    closeLater: (close: () => unknown) => void closers.push(close),
    stop: () => Promise.all(closers.map((close) => close())),
  };
}

/** What each probe gets, in this order; the last one again and again. */
export const inTurn =
  (...behaviours: readonly Behaviour[]): Behaviour =>
  (exchange) =>
    behaviours[Math.min(exchange.nth, behaviours.length) - 1]?.(exchange);

/** The time between two probes, for each pair that follow each other, in ms. */
export const gapsOf = (times: readonly number[]) => times.slice(1).map((time, at) => time - (times[at] ?? 0));
