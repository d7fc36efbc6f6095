import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import {
  type Attributes,
  createNoopMeter,
  type Meter,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { FinishedOperation, Metrics } from './metrics.ts';
import type { TelemetrySettings } from './settings.ts';

export type Tracing = NonNullable<Awaited<ReturnType<typeof openTracing>>>;

/** The target of a call without ids: the path template has names instead. */
export type CallTarget = Readonly<
  Record<'service' | 'origin' | 'pathTemplate', string> & { region: string | undefined }
>;

type TracingOptions = TelemetrySettings & { readonly log: Logger; readonly metrics: Pick<Metrics, 'recordLostSpans'> };

/** The deadline of one export, and of the last exports when the process stops, in ms. */
const EXPORT_TIMEOUT_MS = 2_000;

/**
 * Exports traces over OTLP/HTTP. A trace leads from the router through an operation to its upstream calls. The packages are loaded
 * only if traces are on. Names follow OpenTelemetry's conventions. The SDK reads further variables of the environment itself.
 * The document, the client's address and `url.full` are left out: they would hold tokens, people and ids.
 */
export async function openTracing(options: TracingOptions) {
  const { otlpEndpoint } = options;
  if (otlpEndpoint === undefined) return undefined;
  const [{ OTLPTraceExporter }, { detectResources, envDetector, resourceFromAttributes }, sdk] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace'),
  ]);
  const exporter = new OTLPTraceExporter({ url: `${otlpEndpoint}/v1/traces`, timeoutMillis: EXPORT_TIMEOUT_MS });
  const lost = lossRecorder(options);
  const send = exporter.export.bind(exporter);
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      if (result.error) lost('export_failed', spans.length, result.error);
      done(result);
    });
  const batches = new sdk.BatchSpanProcessor({
    exporter,
    exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    scheduledDelayMillis: 1_000,
    // Only this meter reports that the queue is full.
    selfObsMeterProvider: { getMeter: () => meterOf((count) => lost('queue_full', count)) },
  });
  const provider = new sdk.TracerProvider({
    // The environment's attributes override our own.
    resource: resourceFromAttributes({
      'service.name': 'device-trust',
      'service.version': packageJson.version,
      'service.instance.id': randomUUID(),
    }).merge(detectResources({ detectors: [envDetector] })),
    // The SDK has no sampler of the environment.
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(options.otelTracesSamplerArg) }),
    spanProcessors: [batches],
  });
  const tracer = provider.getTracer('device-trust', packageJson.version);

  return {
    /** Exports the remaining spans, for at most 2 s. */
    stop: async () => {
      const timeout = setTimeout(EXPORT_TIMEOUT_MS, undefined, { ref: false });
      // Lost spans must neither delay the end of the process nor make it fail.
      await Promise.race([provider.shutdown(), timeout]).catch(() => {});
    },
    /** Starts the span of an operation: in the trace of the router's `traceparent` header, or in a new one. */
    startOperation: (request: IncomingMessage): Span => {
      const parent = parseTraceparent(request.headers['traceparent']);
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true }) : ROOT_CONTEXT;
      return tracer.startSpan('GraphQL Operation', { kind: SpanKind.SERVER }, context);
    },
    /**
     * Starts the span of a call for an operation; undefined unless the trace is exported. The services get no `traceparent`: it
     * would tell them which of their calls belong to one operation.
     */
    startCall: (operation: Span, target: CallTarget): Span | undefined => {
      if (!operation.isRecording()) return undefined;
      const options = { kind: SpanKind.CLIENT, attributes: attributesOfCall(target) };
      return tracer.startSpan(`POST ${target.pathTemplate}`, options, trace.setSpan(ROOT_CONTEXT, operation));
    },
  };
}

/** Counts lost spans, and writes a line about each reason once a minute at most. */
function lossRecorder({ log, metrics }: TracingOptions) {
  const nextLine = { export_failed: 0, queue_full: 0 };
  return (reason: keyof typeof nextLine, count: number, error?: Error) => {
    metrics.recordLostSpans(reason, count);
    if (performance.now() < nextLine[reason]) return;
    nextLine[reason] = performance.now() + 60_000;
    log.warn({ error }, LOSSES[reason]);
  };
}

const LOSSES = {
  export_failed:
    'Traces are lost: the receiver at OTEL_EXPORTER_OTLP_ENDPOINT does not accept them within 2 s. Its operator has to act.',
  queue_full:
    'Traces are lost: the receiver cannot keep up. If no export fails, our operator has to lower OTEL_TRACES_SAMPLER_ARG.',
};

/** A meter that reports only the spans for which the queue has no room. */
function meterOf(dropped: (count: number) => void): Meter {
  const add = (count: number, attributes?: Attributes) => {
    if (attributes?.['error.type'] === 'queue_full') dropped(count);
  };
  return Object.assign(createNoopMeter(), { createCounter: () => ({ add }) });
}

/** Ends the span of an operation. Its only text of the client is the operation's name: a `Host` header could be anything. */
export function endOperation(
  span: Span,
  { method = '', httpVersion, socket }: IncomingMessage,
  { kind, errors: [code], side, status }: FinishedOperation,
): void {
  if (!span.isRecording()) return;
  span.setAttributes({
    'http.request.method': method,
    'http.route': '/graphql',
    'http.response.status_code': status,
    'url.scheme': 'http',
    'url.path': '/graphql',
    'network.protocol.version': httpVersion,
    // Undefined, and so left out, once the client has disconnected.
    'server.address': socket.localAddress,
    'server.port': socket.localPort,
    'graphql.operation.type': kind?.type,
    'graphql.operation.name': kind?.name,
  });
  // The convention names a span by the type alone. The field is added, because it has few values too: those of the schema.
  if (kind) span.updateName(`${kind.type} ${kind.field}`);
  // A caller's mistake is not a failure of this server, as in the convention for a status of 4xx.
  if (code) fail(span, code, side !== 'caller');
  span.end();
}

function attributesOfCall({ service, region, origin, pathTemplate }: CallTarget): Attributes {
  const { protocol, hostname, port } = new URL(origin);
  return {
    'http.request.method': 'POST',
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    'url.scheme': protocol.slice(0, -1),
    'url.template': pathTemplate,
    'upstream.service': service,
    'upstream.region': region,
  };
}

/** Ends the span of a call, with the HTTP status of the response, if there was one. A refused input is no error. */
export function endCall(call: Span, outcome: string, status: number | undefined): void {
  if (status !== undefined) call.setAttribute('http.response.status_code', status);
  if (outcome !== 'ok' && outcome !== 'rejected') fail(call, status && status >= 400 ? `${status}` : outcome, true);
  call.end();
}

function fail(span: Span, type: string, isError: boolean): void {
  span.setAttribute('error.type', type);
  if (isError) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values; versions after 00 may add fields at the end. */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** The trace that a request belongs to and the router's span, from its `traceparent` header; undefined without a valid one. */
export function parseTraceparent(header: string | string[] | undefined): SpanContext | undefined {
  const [, version, traceId, spanId, flags = '', more] = TRACEPARENT.exec(String(header)) ?? [];
  if (!traceId || !spanId || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED };
}
