import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';

/** The samplers that OpenTelemetry's specification names for `OTEL_TRACES_SAMPLER`, apart from those that ask a service. */
const SAMPLERS = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio: number) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio: number) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
} as const satisfies Record<string, (ratio: number) => Sampler>;

/** A value of `OTEL_TRACES_SAMPLER`. */
export type SamplerName = keyof typeof SAMPLERS;

/** Makes the sampler of that name. Only those with `traceidratio` in their name use the ratio. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  return SAMPLERS[name](ratio);
}
