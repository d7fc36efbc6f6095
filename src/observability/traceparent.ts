/** What the router says of the trace that a request belongs to. */
interface Traceparent {
  readonly traceId: string;
  /** Of the router's own span. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values; only a later version may have more to it. */
const FORMAT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads the header; undefined if it is none, or not as the standard has it. */
export function parseTraceparent(header: string | string[] | undefined): Traceparent | undefined {
  if (header === undefined) return undefined;
  const [, version, traceId, spanId, flags = '', more] = FORMAT.exec(String(header)) ?? [];
  if (!traceId || !spanId || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
