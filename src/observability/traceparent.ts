/** The trace that a request belongs to, from its `traceparent` header. */
interface Traceparent {
  readonly traceId: string;
  /** The router's span. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values; versions after 00 may add fields at the end. */
const FORMAT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Parses the header; undefined if it is absent or not valid. */
export function parseTraceparent(header: string | string[] | undefined): Traceparent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId, spanId, flags = '', more] = FORMAT.exec(String(header)) ?? [];
  if (!traceId || !spanId || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
