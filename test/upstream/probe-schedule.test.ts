import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createServiceHealth } from '../../src/upstream/health.ts';
import { type Behaviour, startHostile } from '../support/hostile.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { down, probeOf, serviceOptions, well } from './support.ts';

/** Which accounts of a service are probed, and how many probes it gets. */

const COUNT = 100;
const idOf = (n: number) => `account${n}`;

/** A service with a hundred accounts, and the accounts whose probes it got. */
async function start(behave: Behaviour) {
  const sent: string[] = [];
  const upstream = await untilEnd(
    startHostile((exchange) => {
      sent.push(/^POST \/(\w+) /.exec(exchange.request)?.[1] ?? '');
      behave(exchange);
    }),
  );
  const probes = times(COUNT, (n) => ({ ...probeOf(upstream.url, idOf(n)), path: `/${idOf(n)}` }));
  const health = createServiceHealth(probes, serviceOptions());
  onTestFinished(health.close);
  return { health, sent, stateOf: (n: number) => health.accounts.get(idOf(n))?.status.state };
}

test('a late call starts a probe of its own account alone, unless that fails', async () => {
  const { health, sent, stateOf } = await start(well);
  for (let call = 0; call < 20; call += 1) health.requestProbe(idOf(7));
  await expect.poll(() => stateOf(7)).toBe('well');
  await sleep(500);
  expect(new Set(sent)).toEqual(new Set([idOf(7)]));
});

test('a service gets at most ten probes a second, and as many at once, and no account keeps another from its turn', async () => {
  const { health, sent } = await start(down);
  const startedAt = performance.now();
  while (performance.now() - startedAt < 3_000) {
    // A bot asks for a few accounts again and again.
    for (const n of [1, 2, 3, 4, 5]) health.requestProbe(idOf(n));
    await sleep(10);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(sent.length).toBeLessThanOrEqual(10 + 10 * seconds);
  expect(sent.length).toBeGreaterThan(25);
  const perAccount = times(COUNT, (n) => sent.filter((id) => id === idOf(n)).length);
  // Each of the first ones is asked once more before all others are due.
  expect(Math.max(...perAccount)).toBeLessThanOrEqual(2);
});
