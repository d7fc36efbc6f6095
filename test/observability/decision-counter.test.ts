import { Counter, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { DecisionCounter, type DecisionLabels } from '../../src/observability/decision-counter.ts';

/** Counts of decisions when the policy changes. */

const labelNames = ['action', 'rule', 'shadow'] as const;
const labels = (action: string, rule: string, shadow: DecisionLabels['shadow'] = 'false') => ({ action, rule, shadow });

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
