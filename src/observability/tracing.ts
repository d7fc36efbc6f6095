import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { CallSpan } from '../upstream/call-context.ts';
import { parseTraceparent } from './traceparent.ts';

/** Exports traces: one from the router through an operation to each upstream call. Only loaded where they are exported. */
export interface Tracing {
  /** Goes on with the trace of the router's `traceparent`, or begins one. */
  startOperation(headers: IncomingHttpHeaders): OperationTrace;
  /** Sends what is left, if there is somebody to take it within 2 s. */
  stop(): Promise<void>;
}

/** The span of one operation. Nothing of a caller gets into it but the name of its operation. */
export interface OperationTrace {
  readonly traceId: string;
  readonly startCall: (service: string, region: string) => CallSpan;
  end(name: string | undefined, errors: readonly string[]): void;
}

/** How long the last traces may take to leave when the process stops, in ms. */
const EXPORT_TIMEOUT_MS = 2_000;

/** @param endpoint base address of an OTLP receiver over HTTP, such as `http://127.0.0.1:4318` */
export function startTracing(endpoint: string): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'device-trust' }),
    // The router decides what is sampled; what comes without its word is.
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS, scheduledDelayMillis: 1_000 }),
    ],
  });
  const tracer = provider.getTracer('device-trust');

  return {
    stop: async () => {
      const tooLate = setTimeout(EXPORT_TIMEOUT_MS, undefined, { ref: false });
      // Traces that get lost are no reason for a process to end badly, or late.
      await Promise.race([provider.shutdown(), tooLate]).catch(() => {});
    },
    startOperation: ({ traceparent }) => {
      const span = tracer.startSpan('graphql', { kind: SpanKind.SERVER }, parentOf(traceparent));
      const context = trace.setSpan(ROOT_CONTEXT, span);
      return {
        traceId: span.spanContext().traceId,
        startCall: (service, region) => {
          const attributes = { 'upstream.service': service, 'upstream.region': region };
          const call = tracer.startSpan(`call ${service}`, { kind: SpanKind.CLIENT, attributes }, context);
          return {
            headers: { traceparent: traceparentOf(call) },
            end: (outcome) => end(call, outcome === 'ok' || outcome === 'http_4xx' ? [] : [outcome]),
          };
        },
        end: (name, errors) => {
          if (name) span.updateName(`graphql ${name}`);
          end(span, errors);
        },
      };
    },
  };
}

function end(span: Span, errors: readonly string[]): void {
  if (errors.length > 0) {
    span.setAttribute('error.type', errors[0] ?? '');
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function parentOf(traceparent: string | string[] | undefined) {
  const parent = parseTraceparent(traceparent);
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number(isSampled), isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
