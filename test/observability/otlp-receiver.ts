import { untilEnd } from '../support/until-end.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** An exported span, from the JSON of OTLP (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty or absent for the first span of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** 2 for a server, 3 for a client. */
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: number };
  }[];
  /** 2 for an error. */
  readonly status: { readonly code?: number };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: Pick<ExportedSpan, 'attributes'>;
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

/** Receives traces over OTLP/HTTP, like a collector. */
interface Receiver {
  readonly endpoint: string;
  /** Every span that was received. */
  readonly spans: () => ExportedSpan[];
  /** The attributes of the resource of each export. */
  readonly resources: () => Record<string, string | number>[];
  /** Everything that was received: paths, headers and bodies. */
  readonly bytes: () => string;
}

/** Starts a receiver, and stops it after the test. */
export async function startReceiver(): Promise<Receiver> {
  const server = await untilEnd(startUpstream((_request, response) => sendJson(response, 200, { partialSuccess: {} })));
  const exports = (): Export['resourceSpans'] =>
    server.received.flatMap(({ method, url, headers, body }) => {
      const kind = `${method} ${url} ${headers['content-type']}`;
      if (kind !== 'POST /v1/traces application/json') throw new Error(`expected an export of traces, but got ${kind}`);
      // Sound enough for a test: an export with another shape fails an assertion.
      return (JSON.parse(body) as Export).resourceSpans;
    });
  return {
    endpoint: server.url,
    spans: () => exports().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resources: () => exports().map(({ resource }) => attributesOf(resource)),
    bytes: () => JSON.stringify(server.received),
  };
}

/** The attributes of a span or a resource, by name. */
export function attributesOf({ attributes }: Pick<ExportedSpan, 'attributes'>): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));
}
