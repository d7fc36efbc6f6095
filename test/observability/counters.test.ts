import { Counter, Histogram, Registry, type RegistryContentType } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { DecisionCounter, type DecisionLabels } from '../../src/observability/decision-counter.ts';
import { DurationBuffer } from '../../src/observability/duration-buffer.ts';
import { LabelCounter } from '../../src/observability/label-counter.ts';

/** What is counted between two scrapes. */

describe('decisions, when the policy changes', () => {
  const labelNames = ['action', 'rule', 'shadow'] as const;
  const labels = (action: string, rule: string, shadow: DecisionLabels['shadow'] = 'false') => ({
    action,
    rule,
    shadow,
  });

  function start() {
    const series = new Counter({ name: 'd_total', help: 'decisions', labelNames, registers: [new Registry()] });
    const counter = new DecisionCounter(series);
    const read = async (rules: readonly DecisionLabels[]) => {
      counter.flush(rules);
      return (await series.get()).values.map(({ labels: { action, rule, shadow }, value }) => [
        action,
        rule,
        shadow,
        value,
      ]);
    };
    return { counter, read };
  }

  test('a rule that stays keeps its count, and one that goes takes its series with it', async () => {
    const { counter, read } = start();
    const [stays, goes] = [labels('DENY', 'stays'), labels('DENY', 'goes')];
    await read([stays, goes]);
    counter.increment({ action: 'DENY', rule: 'stays' }, false);
    counter.increment({ action: 'DENY', rule: 'goes' }, false);
    expect(await read([stays, goes])).toEqual([
      ['DENY', 'stays', 'false', 1],
      ['DENY', 'goes', 'false', 1],
    ]);
    expect(await read([stays, labels('ALLOW', 'goes')])).toEqual([
      ['DENY', 'stays', 'false', 1],
      ['ALLOW', 'goes', 'false', 0],
    ]);
  });

  test('a request that ends after its policy was replaced makes no series of a rule that is gone', async () => {
    const { counter, read } = start();
    await read([labels('DENY', 'old'), labels('DENY', 'same')]);
    counter.increment({ action: 'DENY', rule: 'old' }, false);
    counter.increment({ action: 'DENY', rule: 'same' }, false);
    counter.increment({ action: 'DENY', rule: 'same' }, true);
    expect(await read([labels('DENY', 'same')])).toEqual([['DENY', 'same', 'false', 1]]);
  });
});

describe('durations', () => {
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
});

test('a pair of labels has a count of its own, which starts again at zero when it is read', () => {
  const counter = new LabelCounter();
  const drained = () => {
    const counts: [string, string, number][] = [];
    counter.drain((...count) => counts.push(count));
    return counts.sort();
  };
  expect(drained()).toEqual([]);
  for (const second of ['x', 'y', 'x']) counter.increment('a', second);
  counter.increment('b', 'x');
  expect(drained()).toEqual([
    ['a', 'x', 2],
    ['a', 'y', 1],
    ['b', 'x', 1],
  ]);
  expect(drained()).toEqual([]);
  counter.increment('a', 'x');
  expect(drained()).toEqual([['a', 'x', 1]]);
});
