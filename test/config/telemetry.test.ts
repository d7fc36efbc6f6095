import { describe, expect, test } from 'vitest';
import { LIVE, parse, problemsOf } from './support.ts';

/** The variables of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/), and shares. */

describe('attributes of the resource', () => {
  test.each<[string, Record<string, string>]>([
    ['a=b', { a: 'b' }],
    [
      'deployment.environment.name=live,service.namespace=shop',
      { 'deployment.environment.name': 'live', 'service.namespace': 'shop' },
    ],
    [' k8s.pod.name = pod-1 , k8s.pod.uid=a-b ', { 'k8s.pod.name': 'pod-1', 'k8s.pod.uid': 'a-b' }],
    ['a=b%2Cc%3D%20d%C3%A4', { a: 'b,c= dä' }],
    ['a=', { a: '' }],
    ['url=https://a.test/?b=c', { url: 'https://a.test/?b=c' }],
  ])('%s', (text, expected) => {
    expect(parse({ ...LIVE, OTEL_RESOURCE_ATTRIBUTES: text }).otelResourceAttributes).toEqual(expected);
  });

  test.each(['a', '=b', 'a=b,', 'a=%', 'a=%ff', 'a=b c', 'a b=c', 'a="b"'])('%s is refused', (text) => {
    expect(problemsOf({ ...LIVE, OTEL_RESOURCE_ATTRIBUTES: text })).toEqual([
      `OTEL_RESOURCE_ATTRIBUTES: expected pairs such as deployment.environment.name=live,service.namespace=shop, with percent-encoded values, but got ${JSON.stringify(text)}.`,
    ]);
  });
});

describe('the sampler', () => {
  test('has the names of the specification', () => {
    for (const name of ['always_on', 'always_off', 'parentbased_always_on', 'parentbased_always_off']) {
      expect(parse({ ...LIVE, OTEL_TRACES_SAMPLER: name }).otelTracesSampler).toBe(name);
    }
    expect(problemsOf({ ...LIVE, OTEL_TRACES_SAMPLER: 'xray' })).toEqual([
      expect.stringMatching(/^OTEL_TRACES_SAMPLER: expected always_on, .* or parentbased_traceidratio, but got "xray"/),
    ]);
  });

  test.each(['traceidratio', 'parentbased_traceidratio', ''])('"%s" has a share', (OTEL_TRACES_SAMPLER) => {
    const env = { ...LIVE, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: '0.5' };
    expect(parse(env).otelTracesSamplerArg).toBe(0.5);
  });

  test('without a ratio refuses a share, which would have no effect', () => {
    const env = { ...LIVE, OTEL_TRACES_SAMPLER: 'always_on', OTEL_TRACES_SAMPLER_ARG: '0.5' };
    expect(problemsOf(env)).toEqual([
      'OTEL_TRACES_SAMPLER_ARG: expected it beside OTEL_TRACES_SAMPLER=traceidratio or parentbased_traceidratio, but got beside always_on.',
    ]);
  });
});

describe.each(['LOG_SAMPLE', 'OTEL_TRACES_SAMPLER_ARG'])('the share %s', (name) => {
  test.each([
    ['0', 0],
    ['1', 1],
    ['0.001', 0.001],
    ['1.0', 1],
  ])('can be %s', (text, expected) => {
    const { logSample, otelTracesSamplerArg } = parse({ ...LIVE, [name]: text });
    expect(name === 'LOG_SAMPLE' ? logSample : otelTracesSamplerArg).toBe(expected);
  });

  test.each(['1.1', '-0.1', '2', '10%', '1e-1', '.5', '0,5', '0.'])('cannot be %s', (text) => {
    expect(problemsOf({ ...LIVE, [name]: text })).toEqual([
      `${name}: expected a number from 0 to 1, such as 0.1, but got "${text}".`,
    ]);
  });
});
