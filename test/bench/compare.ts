import { loadavg } from 'node:os';
import { type Costs, measureClosed } from './closed-loop.ts';
import {
  CONTENDERS,
  contenderNamed,
  MERCURIUS_NAME,
  OURS_NAME,
  TEMPLATE_NAME,
  WITHOUT_SCOPES_NAME,
} from './contenders.ts';
import { describeEnvironment } from './environment.ts';
import { measureFirstRequests } from './first-request.ts';
import { GROUPS } from './groups.ts';
import type { Options } from './options.ts';
import { measurePaced } from './paced-load.ts';
import { createRandom } from './random.ts';
import { measureReplicas } from './replicas.ts';
import type { Results } from './results.ts';
import { SIZES } from './sizes.ts';
import { measureStarts } from './start-up.ts';
import type { Running, Testbed } from './testbed.ts';
import { type Memory, startWarm } from './warm-up.ts';

/**
 * Measures everything that was asked for; starts come first, while nothing else runs. Rejects if a contender answers
 * wrongly.
 *
 * @param placement which core everything has, in words
 * @param say called with what is measured next
 */
export async function compare(
  testbed: Testbed,
  { size: sizeName, only, workloads, seed }: Options,
  placement: string,
  say: (step: string) => void,
): Promise<Results> {
  const size = SIZES[sizeName];
  const random = createRandom(seed);
  const environment = describeEnvironment(placement, sizeName);
  const wants = (workload: string) => {
    if (workloads.includes(workload)) say(workload);
    return workloads.includes(workload);
  };

  // A start means something only beside another one, so both are measured whatever was chosen.
  const coldStart =
    wants('cold-start') && (await measureStarts(testbed, [OURS_NAME, TEMPLATE_NAME].map(contenderNamed), size));
  const firstRequests = wants('first-request') && (await measureFirstRequests(testbed, size));

  const running = new Map<string, Running>();
  const memory: Record<string, Memory> = {};
  for (const contender of CONTENDERS.filter(({ name }) => isNeeded(name, only, workloads))) {
    say(`${contender.name} warms up`);
    const warm = await startWarm(testbed, contender, size);
    running.set(contender.name, warm.running);
    if (only.includes(contender.name)) memory[contender.name] = warm.memory;
  }

  const closed: Record<string, Costs> = {};
  for (const [name, group] of Object.entries(GROUPS).filter(([name]) => wants(name))) {
    // A quick run compares with Mercurius only where a goal does.
    const isShort = sizeName === 'quick' && name !== 'single';
    const series = group.series.flatMap(([contender, workload]) => {
      const found = isShort && contender === MERCURIUS_NAME ? undefined : running.get(contender);
      return found ? [{ running: found, workload }] : [];
    });
    closed[name] = await measureClosed(testbed, series, size, random);
  }
  const chosen = [...running.values()].filter(({ name }) => only.includes(name));
  const latency = wants('latency') && (await measurePaced(testbed, chosen, size));
  const ours = running.get(OURS_NAME);
  const replicas = ours && wants('replicas') && (await measureReplicas(testbed, ours, size, random));

  return {
    environment,
    run: { seed, rounds: size.rounds, roundMs: size.roundMs, loadAfter: loadavg()[0] ?? Number.NaN },
    closed,
    ...(firstRequests && { firstRequests }),
    ...(replicas && { replicas }),
    ...(latency && { latency }),
    ...(coldStart && { coldStart }),
    ...(workloads.includes('memory') && { memory }),
  };
}

/** Is this contender asked anything? Ours in another configuration is, for the group about scopes. */
function isNeeded(name: string, only: readonly string[], workloads: readonly string[]): boolean {
  if (name === WITHOUT_SCOPES_NAME) return only.includes(OURS_NAME) && workloads.includes('scopes');
  const asksSeveral = workloads.some(
    (workload) => workload in GROUPS || ['latency', 'memory', 'replicas'].includes(workload),
  );
  return only.includes(name) && asksSeveral;
}
