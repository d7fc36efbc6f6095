import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/variables.ts';
import { capacityFor, coresFor, mostOf, PLANNED } from '../capacity/capacity.ts';
import { ROOT } from '../support/process.ts';
import { container, env, manifestOf, readYaml } from './manifests.ts';
import { expectToBeAskable } from './metrics.ts';

/** The autoscaler has the figures that the capacity function plans with, and asks for a metric that there is. */

const { minReplicas, maxReplicas, metrics, behavior } = manifestOf('HorizontalPodAutoscaler')['spec'];
const [inFlight, cpu, ...others] = metrics;
const text = readFileSync(join(ROOT, 'deploy/kubernetes/autoscaler.yaml'), 'utf8');
const [rule, ...otherRules] = readYaml('prometheus-adapter.yaml').rules.custom;

/** The load that the comment beside `maxReplicas` names. */
const MOST = { requestsPerSecond: 10_000, latencyMs: 300, callsPerRequest: 1 };

describe('the number of replicas', () => {
  test('is at least what is planned with at any load', () => {
    expect(minReplicas).toBe(PLANNED.minReplicas);
  });

  test('is at most what the quota of the comment needs', () => {
    expect(maxReplicas).toBe(capacityFor(MOST, PLANNED).replicas);
    // One less would not be enough for it.
    const planned = mostOf(maxReplicas - 1, MOST, PLANNED).byCalls * PLANNED.inFlightShare;
    expect(planned).toBeLessThan(MOST.requestsPerSecond);
  });

  test('follows the share in flight first, and then the CPU of a whole core', () => {
    expect(others).toEqual([]);
    expect(inFlight.pods.target).toEqual({ type: 'AverageValue', averageValue: `${PLANNED.inFlightShare * 1_000}m` });
    expect(cpu.resource.target).toEqual({ type: 'Utilization', averageUtilization: PLANNED.cpuShare * 100 });
    expect(container.resources.requests.cpu).toBe('1');
    expect(env).not.toHaveProperty('UPSTREAM_MAX_IN_FLIGHT');
    expect(Number(VARIABLES.upstreamMaxInFlight.default)).toBe(PLANNED.maxInFlight);
  });

  test('does not follow the CPU alone, which is busy too late: the comment says when', () => {
    for (const latencyMs of [1_000, 300]) {
      const refusesFrom = mostOf(1, { latencyMs, callsPerRequest: 1 }, PLANNED).byCalls;
      expect(text).toContain(`${latencyMs.toLocaleString('en')} ms`);
      expect(text).toContain(`from ${Math.round(refusesFrom).toLocaleString('en')}`);
      expect(text).toContain(coresFor(refusesFrom, 1, PLANNED).toFixed(2));
    }
    expect(text).toContain(
      `${maxReplicas} x ${PLANNED.maxInFlight} = ${(maxReplicas * PLANNED.maxInFlight).toLocaleString('en')}`,
    );
  });

  test('doubles at once, and falls slowly', () => {
    expect(behavior.scaleUp).toMatchObject({ stabilizationWindowSeconds: 0, selectPolicy: 'Max' });
    expect(behavior.scaleUp.policies).toContainEqual({ type: 'Percent', value: 100, periodSeconds: 15 });
    expect(behavior.scaleDown.stabilizationWindowSeconds).toBe(600);
  });
});

describe('the rule of the adapter', () => {
  test('gives the metric that the autoscaler asks for, by pod', () => {
    expect(otherRules).toEqual([]);
    expect(rule.name.as).toBe(inFlight.pods.metric.name);
    expect(rule.resources.overrides).toEqual({ namespace: { resource: 'namespace' }, pod: { resource: 'pod' } });
  });

  test('reads series that there are, as PromQL', () => {
    // What the adapter fills in has names and values of the cluster.
    const fill = (query: string) =>
      query.replaceAll('<<.LabelMatchers>>', 'instance=~"one|other"').replaceAll('<<.GroupBy>>', 'instance');
    expectToBeAskable(fill(rule.metricsQuery));
    expectToBeAskable(rule.seriesQuery.replace('namespace!="",pod!=""', 'instance!=""'));
    expect(() => expectToBeAskable(fill(rule.metricsQuery.replace('_queued', '_queue')))).toThrow();
  });
});
