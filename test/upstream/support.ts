import { Resolver } from '../../src/runtime/dns.ts';
import { type CallContext, Cancellation } from '../../src/upstream/call-context.ts';
import { createUpstreamClient, type UpstreamOptions } from '../../src/upstream/client.ts';
import { judgeStatus, type Probe, WELL } from '../../src/upstream/probe.ts';
import type { UpstreamResponse } from '../../src/upstream/transport.ts';

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
