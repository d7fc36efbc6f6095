import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createDnsCache } from '../../src/runtime/dns.ts';
import { type CallContext, UpstreamClient, type UpstreamOptions } from '../../src/upstream/client.ts';
import { createServiceHealth } from '../../src/upstream/health.ts';
import { createUpstreamMetrics, type UpstreamMetrics } from '../../src/upstream/metrics.ts';
import { evidenceOfStatus, type Probe, type ProbeResult } from '../../src/upstream/probe.ts';
import { createQuota } from '../../src/upstream/quota.ts';
import { counterOfProcess } from '../../src/upstream/quota-store.ts';
import type { UpstreamResponse } from '../../src/upstream/transport.ts';
import { ANDROID, PASS } from '../faults/documented.ts';
import { answer, type Behaviour, startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { type Answer, sendJson, startUpstream } from '../support/upstream.ts';

/** What a service needs, without limits, with a log that nobody reads and with metrics of its own. */
export function serviceOptions() {
  return {
    service: 'captcha',
    upstreamMode: 'live',
    upstreamCheck: 'off',
    upstreamMaxInFlight: 10,
    quotaStoreUrl: undefined,
    // Longer than any answer takes that comes at once, however busy the machine is.
    timeoutMs: 60_000,
    dns: createDnsCache(),
    eventLoop: { totalLagMs: () => 0 },
    log: pino({ level: 'silent' }),
    metrics: createUpstreamMetrics(createMetrics(['fingerprint', 'captcha']).registry),
  } as const;
}

/** A client of an upstream service, with what a test says, until the test ends. */
export function createTestClient({ probes = [], metrics, ...options }: TestOptions) {
  const usual = serviceOptions();
  const callers = { hasRouter: true, services: new Map() };
  const quota = createQuota('test', {}, callers, { recordQuotaExceeded: () => {} }, counterOfProcess());
  const client = new UpstreamClient({
    ...usual,
    quota,
    pathTemplate: '/',
    ...options,
    accounts: probes,
    probeOf: (probe) => probe,
    metrics: { ...usual.metrics, ...metrics },
  });
  onTestFinished(() => client.close());
  return client;
}

/** With the question that probes each account. */
export type TestOptions = Partial<Omit<UpstreamOptions<Probe>, 'metrics' | 'accounts' | 'probeOf'>> & {
  probes?: readonly Probe[];
  metrics?: Partial<UpstreamMetrics>;
};

/** The context of an operation of its own, with the calls that it has counted. */
export function createContext(endSpan = (_outcome: string) => {}) {
  const calls: number[] = [];
  const startCall = (): ReturnType<CallContext['operation']['startCall']> => (call) => {
    calls.push(call.ms);
    endSpan(call.outcome);
  };
  const cancellation = new AbortController();
  const cancel = () => cancellation.abort(new Error('disconnected'));
  const caller = { name: 'router', isService: false };
  const operation = { requestId: 'r', startCall };
  return { operation, caller, signal: cancellation.signal, responseBytesLeft: Number.POSITIVE_INFINITY, calls, cancel };
}

/** Reads a response as it is. */
export const asIs = (response: UpstreamResponse) => ({ result: response, evidence: 'well', outcome: 'ok' }) as const;

/** A POST without content to this address. */
export function requestTo(origin: string, context: CallContext, id = 'a') {
  return { account: { id, region: 'GLB', origin, path: '/', headers: {} }, body: '', context };
}

/** A probe of this address, whose body is the one of no caller. Any response with status 200 is good. */
export function probeOf(origin: string, id = 'a'): Probe {
  return { id, region: 'GLB', origin, path: '/probe', headers: {}, body: () => 'probe', classify: classify200 };
}

function classify200({ status, json }: UpstreamResponse): ProbeResult {
  if (status === 200) return { evidence: 'well', reason: '' };
  const documented = status === 401 ? 'refused' : status === 410 ? 'withdrawn' : undefined;
  return { evidence: (json ? documented : undefined) ?? evidenceOfStatus(status), reason: `HTTP status ${status}` };
}

/** What both services answer to a good request. */
export const answerWell: Answer = ({ url }, response) =>
  sendJson(response, 200, url.startsWith('/validate') ? PASS : ANDROID);

/** Starts an upstream that answers so until the test ends. */
export const startGood = () => untilEnd(startUpstream(answerWell));

export const well = answer(200, '{}');
export const down = answer(503, '');
/** Refuses the account as documented, and says that it was deleted or paused. */
export const [refusing, withdrawing] = [answer(401, '{}'), answer(410, '{}')];

interface Options {
  readonly timeoutMs?: number;
  readonly totalLagMs?: () => number;
}

/** Makes what starts accounts. `stop` stops all of them. */
export function accountStarter() {
  const closers: (() => unknown)[] = [];

  /** An account whose service does to each probe, counted from 1, what the test says. */
  async function startAccount(behave: Behaviour, { totalLagMs = () => 0, ...more }: Options = {}) {
    const upstream = await startHostile(behave);
    const changes: string[] = [];
    const probe = probeOf(upstream.url);
    const sentAt: number[] = [];
    const body = () => {
      sentAt.push(performance.now());
      return probe.body();
    };
    const write = (line: string) => {
      const { health: state, reason } = JSON.parse(line);
      changes.push(reason ? `${state}: ${reason}` : state);
    };
    const log = pino({ level: 'debug' }, { write });
    const options = { ...serviceOptions(), eventLoop: { totalLagMs }, log, ...more };
    const service = createServiceHealth([{ ...probe, body }], options);
    closers.push(upstream.stop, service.close);
    const statusOf = () => service.accounts.get('a')?.status;
    return { upstream, sentAt, changes, health: service, statusOf, stateIs: () => statusOf()?.state };
  }

  return { startAccount, stop: () => Promise.all(closers.map((close) => close())) };
}

/** What each probe gets, in this order; the last one again and again. */
export const inTurn =
  (...behaviours: readonly Behaviour[]): Behaviour =>
  (exchange) =>
    behaviours[Math.min(exchange.nth, behaviours.length) - 1]?.(exchange);

/** The shortest time between the sending of two probes that follow each other, in ms. */
export const shortestGap = (times: readonly number[]) =>
  Math.min(...times.slice(1).map((time, at) => time - (times[at] ?? 0)));
