import { z } from 'zod';
import type { Environment } from '../config/parser.ts';
import {
  choice,
  internalAddress,
  mismatch,
  ownSecret,
  ratio,
  type Table,
  type Values,
  visibleText,
} from '../config/values.ts';

/** The variables of the log and of traces. The names that begin with `OTEL_` are OpenTelemetry's. */

export const LOG_VARIABLES = {
  logLevel: {
    name: 'LOG_LEVEL',
    ...choice('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    default: 'info',
  },
  logSample: { name: 'LOG_SAMPLE', ...ratio, default: '1' },
  logHashKey: { name: 'LOG_HASH_KEY', ...ownSecret },
} as const satisfies Table;

/** `name=value` in OpenTelemetry's format. The value is visible ASCII, with `"`, `,`, `;` and `\` percent-encoded. */
const PAIR = /^\s*([\w.\/\-]{1,255})\s*=\s*([[!-~]--[",;\\]]*)\s*$/v;
/** The pairs of a text, separated by commas. Empty pairs are skipped. */
const pairsIn = (text: string) => text.split(',').filter((pair) => pair.trim() !== '');
const PAIRS = 'pairs such as deployment.environment.name=live,service.namespace=shop, with percent-encoded values';

const resourceAttributes = {
  expected: PAIRS,
  schema: z.string().transform((text, context): Readonly<Record<string, string>> => {
    try {
      return Object.fromEntries(
        pairsIn(text).map((pair) => {
          const [, name, value = ''] = PAIR.exec(pair) ?? [];
          if (name === undefined) throw new URIError('no pair');
          return [name, decodeURIComponent(value)];
        }),
      );
    } catch {
      context.addIssue({ code: 'custom', message: `expected ${PAIRS}` });
      return z.NEVER;
    }
  }),
  absent: {},
};

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const sampler = choice(...SAMPLERS, ...SAMPLERS.map((name) => `parentbased_${name}` as const));

export const TRACING_VARIABLES = {
  otlpEndpoint: { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', ...internalAddress },
  otelServiceName: { name: 'OTEL_SERVICE_NAME', ...visibleText(1, 255) },
  otelResourceAttributes: { name: 'OTEL_RESOURCE_ATTRIBUTES', ...resourceAttributes },
  otelTracesSampler: { name: 'OTEL_TRACES_SAMPLER', ...sampler, default: 'parentbased_traceidratio' },
  otelTracesSamplerArg: { name: 'OTEL_TRACES_SAMPLER_ARG', ...ratio, default: '0.1' },
} as const satisfies Table;

export type TracingSettings = Values<typeof TRACING_VARIABLES>;

/** Variables of the OTLP exporter, for files and headers. A mistake in them would look like a failure of the receiver. */
const FILES = /^OTEL_EXPORTER_OTLP_(TRACES_)?(CERTIFICATE|CLIENT_CERTIFICATE|CLIENT_KEY)$/;
const HEADERS = /^OTEL_EXPORTER_OTLP_(TRACES_)?HEADERS$/;

/** A sentence for each mistake in these files and headers. No sentence shows a value, which can be a secret. */
export function exporterProblems(env: Environment, readFile: (path: string) => string): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value) return [];
    if (HEADERS.test(name)) {
      const isWrong = pairsIn(value).some((pair) => !PAIR.test(pair));
      return isWrong ? [mismatch(name, 'pairs such as api-key=…, with percent-encoded values', 'a wrong value')] : [];
    }
    if (!FILES.test(name)) return [];
    try {
      readFile(value);
      return [];
    } catch {
      return [mismatch(name, 'a readable file in PEM form', 'a path that cannot be read')];
    }
  });
}

/** Do OpenTelemetry's own variables turn traces off? */
export function areTracesOff({ OTEL_SDK_DISABLED = '', OTEL_TRACES_EXPORTER = '' }: Environment): boolean {
  return /^\s*true\s*$/i.test(OTEL_SDK_DISABLED) || /^\s*none\s*$/i.test(OTEL_TRACES_EXPORTER);
}
