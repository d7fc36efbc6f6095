import { z } from 'zod';
import { choice, internalAddress, port, secretText, textThat, toggle, type Variable } from './values.ts';

/** A part of a whole. */
const share = {
  expected: 'a number from 0 to 1, such as 0.1',
  schema: textThat('a number from 0 to 1', (text) => /^(0(\.\d{1,9})?|1(\.0{1,9})?)$/.test(text)).transform(Number),
};

/** Pairs of OpenTelemetry, whose values are percent-encoded where they have other characters than these. */
const PAIR = /^\s*([\w./-]{1,255})\s*=\s*([\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)\s*$/;
const PAIRS = 'pairs such as deployment.environment.name=live,service.namespace=shop, with percent-encoded values';

/** The attributes of a resource, by name. */
const attributes = {
  expected: PAIRS,
  schema: z.string().transform((text, context): Readonly<Record<string, string>> => {
    const pairs = text.split(',').map((pair) => PAIR.exec(pair));
    try {
      return Object.fromEntries(
        pairs.map((pair) => {
          const [, name = '', value = ''] = pair ?? [];
          if (name === '') throw new URIError('no pair');
          return [name, decodeURIComponent(value)];
        }),
      );
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
      context.addIssue({ code: 'custom', message: `expected ${PAIRS}` });
      return z.NEVER;
    }
  }),
};

/** Those samplers of OpenTelemetry that sample a share of the traces that begin here. */
export const RATIO_SAMPLERS: readonly string[] = ['traceidratio', 'parentbased_traceidratio'];

/** The rows of `VARIABLES` that say what is logged, counted and traced. The names that begin with `OTEL_` are OpenTelemetry's. */
export const TELEMETRY = {
  logLevel: {
    name: 'LOG_LEVEL',
    description: 'Least important lines to log; debug adds keyed hashes of the tokens',
    ...choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
  },
  logSample: {
    name: 'LOG_SAMPLE',
    description: 'Share of the good operations that write a line; all others always do',
    ...share,
    default: '1',
  },
  logHashKey: {
    name: 'LOG_HASH_KEY',
    description: 'Key of the hashes that stand for tokens in logs; without one each process makes its own',
    expected: '16 to 256 visible ASCII characters',
    schema: secretText,
    secret: true,
  },
  adminPort: {
    name: 'ADMIN_PORT',
    description: 'Port of `/metrics` and of probes; 0 picks a free one',
    ...port(65_535),
    default: '9464',
  },
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    description: 'OTLP receiver (HTTP) to send traces to; without one nothing is traced',
    ...internalAddress,
  },
  otelServiceName: {
    name: 'OTEL_SERVICE_NAME',
    description: 'Name of this service in traces; it overrides `service.name` of the next variable',
    expected: '1 to 255 visible ASCII characters',
    schema: textThat('1 to 255 visible ASCII characters', (text) => /^[\x21-\x7e]{1,255}$/.test(text)),
  },
  otelResourceAttributes: {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    description: 'Attributes of this process in traces; they override its own',
    ...attributes,
    absent: {},
  },
  otelTracesSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    description: 'Which operations are traced; parentbased follows the decision of a `traceparent`',
    ...choice([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ]),
    default: 'parentbased_traceidratio',
  },
  otelTracesSamplerArg: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    description: 'Share of the traces that traceidratio samples',
    ...share,
    default: '0.1',
  },
  upstreamTraceparent: {
    name: 'UPSTREAM_TRACEPARENT',
    description: 'Sends the ids of a trace to both services, so that they can continue it',
    ...toggle,
    default: 'false',
  },
} as const satisfies Record<string, Variable>;
