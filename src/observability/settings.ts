import type { Environment } from '../config/parser.ts';
import { choice, internalAddress, ownSecret, ratio, type Table, type Values } from '../config/values.ts';

export const TELEMETRY_VARIABLES = {
  logLevel: {
    name: 'LOG_LEVEL',
    ...choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
  },
  logSample: { name: 'LOG_SAMPLE', ...ratio, default: '1' },
  logHashKey: { name: 'LOG_HASH_KEY', ...ownSecret },
  otlpEndpoint: { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', ...internalAddress },
  otelTracesSamplerArg: { name: 'OTEL_TRACES_SAMPLER_ARG', ...ratio, default: '0.1' },
} as const satisfies Table;

export type TelemetrySettings = Values<typeof TELEMETRY_VARIABLES>;

/** Do OpenTelemetry's own variables turn traces off? */
export function areTracesOff({ OTEL_SDK_DISABLED = '', OTEL_TRACES_EXPORTER = '' }: Environment): boolean {
  return /^\s*true\s*$/i.test(OTEL_SDK_DISABLED) || /^\s*none\s*$/i.test(OTEL_TRACES_EXPORTER);
}
