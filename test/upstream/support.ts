import { Resolver } from '../../src/runtime/dns.ts';
import { type CallContext, Cancellation } from '../../src/upstream/call-context.ts';
import { createUpstreamClient, type UpstreamOptions } from '../../src/upstream/client.ts';

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
  return { region: 'GLB', account: 'a', origin, path: '/', headers: {}, body: '', timeoutMs, context };
}
