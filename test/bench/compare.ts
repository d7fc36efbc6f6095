import { type Costs, measureClosed } from './closed-loop.ts';
import { CONTENDERS, FLOOR_NAME, OURS_NAME, TEMPLATE_NAME } from './contenders.ts';
import type { Environment } from './environment.ts';
import type { Options } from './options.ts';
import { measurePaced } from './paced-load.ts';
import type { Results } from './results.ts';
import { SIZES, type Size } from './sizes.ts';
import { measureStarts } from './start-up.ts';
import type { Running, Testbed } from './testbed.ts';
import { type Memory, startWarm } from './warm-up.ts';
import { GROWTH, WORKLOADS } from './workloads.ts';

/**
 * Measures everything that was asked for; starts come first, while nothing else runs. Rejects if a contender answers
 * wrongly.
 *
 * @param say called with what is measured next
 */
export async function compare(
  testbed: Testbed,
  { size: sizeName, only, workloads }: Options,
  environment: Environment,
  say: (step: string) => void,
): Promise<Results> {
  const size = SIZES[sizeName];
  const chosen = CONTENDERS.filter(({ name }) => only.includes(name));
  // A start means something only beside another one, so both are measured whatever was chosen.
  const starters = CONTENDERS.filter(({ name }) => name === OURS_NAME || name === TEMPLATE_NAME);
  const wants = (workload: string) => {
    if (workloads.includes(workload)) say(workload);
    return workloads.includes(workload);
  };

  const coldStart = wants('cold-start') && (await measureStarts(testbed, starters, size));

  const running: Running[] = [];
  const memory: Record<string, Memory> = {};
  for (const contender of workloads.some((workload) => workload !== 'cold-start') ? chosen : []) {
    say(`${contender.name} warms up`);
    const warm = await startWarm(testbed, contender, size);
    running.push(warm.running);
    memory[contender.name] = warm.memory;
  }
  const closed: Record<string, Costs> = {};
  for (const name of Object.keys(WORKLOADS).filter(wants))
    closed[name] = await measureClosed(testbed, running, name, size);
  const latency = wants('latency') && (await measurePaced(testbed, running, size));
  // The others ask once for each reference, a thousand times for one request: that shows nothing about growth.
  const rivals = running.filter(({ name }) => name === OURS_NAME || name === FLOOR_NAME);
  const growth = wants('growth') && (await measureGrowth(testbed, rivals, size));

  return {
    environment,
    closed,
    ...(growth && { growth }),
    ...(latency && { latency }),
    ...(coldStart && { coldStart }),
    ...(workloads.includes('memory') && { memory }),
  };
}

async function measureGrowth(testbed: Testbed, contenders: readonly Running[], size: Size) {
  const growth: Record<string, Costs> = {};
  for (const references of GROWTH.keys()) {
    growth[references] = await measureClosed(testbed, contenders, `growth-${references}`, size);
  }
  return growth;
}
