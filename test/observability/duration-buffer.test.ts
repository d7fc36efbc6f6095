import { Histogram, Registry, type RegistryContentType } from 'prom-client';
import { expect, test } from 'vitest';
import { DurationBuffer } from '../../src/observability/duration-buffer.ts';

function startBuffer() {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [registry];
  const options = { name: 'seconds', help: 'h', labelNames: ['kind'] as const, registers, enableExemplars: true };
  const histogram = new Histogram<'kind' | 'trace_id'>(options);
  /** What was observed so far: how many durations of a kind, and their sum. */
  const observed = async (kind: string) => {
    const { values } = await histogram.get();
    const value = (suffix: string) =>
      values.find(({ metricName, labels }) => metricName === `seconds_${suffix}` && labels.kind === kind)?.value;
    return [value('count'), value('sum')];
  };
  return { buffer: new DurationBuffer<{ kind: string }>(histogram), observed };
}

test('a flush observes every duration with its labels, and only once', async () => {
  const { buffer, observed } = startBuffer();
  buffer.add({ kind: 'a' }, 0.25);
  buffer.add({ kind: 'b' }, 2);
  buffer.add({ kind: 'a' }, 0.5);
  expect(await observed('a')).toEqual([undefined, undefined]);
  buffer.flush();
  buffer.flush();
  expect(await observed('a')).toEqual([2, 0.75]);
  expect(await observed('b')).toEqual([1, 2]);
});

test('a full buffer flushes itself, so that its memory is bounded', async () => {
  const { buffer, observed } = startBuffer();
  for (let at = 0; at < 1_250; at += 1) buffer.add({ kind: 'a' }, 1);
  expect(await observed('a')).toEqual([1_000, 1_000]);
  buffer.flush();
  expect(await observed('a')).toEqual([1_250, 1_250]);
});
