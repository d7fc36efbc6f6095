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

test('a service gets at most ten probes a second, and as many at once, for any number of accounts and calls', async () => {
  const { health, sent, stateOf } = await start(down);
  const startedAt = performance.now();
  let confirmedAfterMs = Number.POSITIVE_INFINITY;
  while (performance.now() - startedAt < 3_000) {
    // People ask for one account, and a bot for all others as well once the probes of that one have failed.
    const isConfirmed = stateOf(0) === 'outage';
    if (isConfirmed) confirmedAfterMs = Math.min(confirmedAfterMs, performance.now() - startedAt);
    for (const id of isConfirmed ? health.accounts.keys() : [idOf(0)]) health.requestProbe(id);
    await sleep(10);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(sent.length).toBeLessThanOrEqual(10 + 10 * seconds);
  expect(sent.length).toBeGreaterThan(25);
  // The other accounts do not delay the one that is asked for.
  expect(confirmedAfterMs).toBeLessThan(2_000);
  // Nobody is probed twice before all others had a turn.
  const others = sent.filter((id) => id !== idOf(0));
  expect(new Set(others).size).toBe(others.length);
});
