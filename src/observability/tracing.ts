import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { CallSpan } from '../upstream/call-context.ts';
import { parseTraceparent } from './traceparent.ts';

/** Exports traces, each from the router through an operation to its upstream calls. */
export interface Tracing {
  /** Starts the span of an operation: in the trace of the router's `traceparent` header, or in a new one. */
  startOperation(headers: IncomingHttpHeaders): OperationSpan;
  /** Exports the remaining spans, for at most 2 s. */
  stop(): Promise<void>;
}

/** The span of one operation. Of what the client sent it has the name of the operation alone. */
export interface OperationSpan {
  readonly traceId: string;
  readonly startCall: (service: string, region: string) => CallSpan;
  /** @param errors the code of each error in the response */
  end(name: string | undefined, errors: readonly string[]): void;
}

/** Deadline of one export, and of the last ones when the process stops, in ms. */
const EXPORT_TIMEOUT_MS = 2_000;

/**
 * Starts to export spans over OTLP/HTTP. Its packages are slow to load, so this module is imported only where traces are
 * exported.
 *
 * @param endpoint base address of the receiver, such as `http://127.0.0.1:4318`
 */
export function startTracing(endpoint: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'device-trust' }),
    // The router decides which traces are sampled. An operation without a valid traceparent is sampled.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS, scheduledDelayMillis: 1_000 }),
    ],
  });
  const tracer = provider.getTracer('device-trust');

  return {
    stop: async () => {
      const timeout = setTimeout(EXPORT_TIMEOUT_MS, undefined, { ref: false });
      // Lost spans must neither delay the end of the process nor make it fail.
      await Promise.race([provider.shutdown(), timeout]).catch(() => {});
    },
    startOperation: ({ traceparent }) => {
      const span = tracer.startSpan('graphql', { kind: SpanKind.SERVER }, parentContextOf(traceparent));
      const context = trace.setSpan(ROOT_CONTEXT, span);
      return {
        traceId: span.spanContext().traceId,
        startCall: (service, region) => {
          const attributes = { 'upstream.service': service, 'upstream.region': region };
          const call = tracer.startSpan(`call ${service}`, { kind: SpanKind.CLIENT, attributes }, context);
          return {
            headers: { traceparent: traceparentOf(call) },
            // A 4xx says that the request was wrong, so the call itself did not fail.
            end: (outcome) => endSpan(call, outcome === 'ok' || outcome === 'http_4xx' ? undefined : outcome),
          };
        },
        end: (name, errors) => {
          if (name) span.updateName(`graphql ${name}`);
          endSpan(span, errors[0]);
        },
      };
    },
  };
}

/** Ends a span, as failed if there was an error. */
function endSpan(span: Span, error: string | undefined): void {
  if (error !== undefined) {
    span.setAttribute('error.type', error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function parentContextOf(traceparent: string | string[] | undefined) {
  const parent = parseTraceparent(traceparent);
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number(isSampled), isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
