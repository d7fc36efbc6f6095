import { onTestFinished } from 'vitest';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** A span as it was exported, read from OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty or absent for the first of its trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 is a server's, 3 a client's. */
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
  /** 2 is an error. */
  readonly status: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: Pick<ExportedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

/** Takes traces over OTLP/HTTP, as a collector does. */
interface Receiver {
  readonly endpoint: string;
  /** Every span so far. */
  readonly spans: () => ExportedSpan[];
  /** The attributes of everything that exported so far. */
  readonly resources: () => Record<string, string>[];
  /** Every byte so far: addresses, headers and bodies. */
  readonly bytes: () => string;
}

/** Starts one that serves until the test is over. */
export async function startReceiver(): Promise<Receiver> {
  const server = await startUpstream((_request, response) => sendJson(response, 200, { partialSuccess: {} }));
  onTestFinished(server.stop);
  const exports = (): Export['resourceSpans'] =>
    server.received.flatMap(({ method, url, headers, body }) => {
      const kind = `${method} ${url} ${headers['content-type']}`;
      if (kind !== 'POST /v1/traces application/json') throw new Error(`expected an export of traces, but got ${kind}`);
      // Sound enough for a test: what is not as the protocol has it fails where it is looked at.
      return (JSON.parse(body) as Export).resourceSpans;
    });
  return {
    endpoint: server.url,
    spans: () => exports().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resources: () => exports().map(({ resource }) => attributesOf(resource)),
    bytes: () => JSON.stringify(server.received),
  };
}

/** The attributes of a span, or of a resource, by name. */
export function attributesOf({ attributes }: Pick<ExportedSpan, 'attributes'>): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? '']));
}
