import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, describe, test } from 'vitest';
import { createServiceHealth, type HealthOptions } from '../../src/upstream/health.ts';
import { answer, type Behaviour, hang, startHostile } from '../support/hostile.ts';
import { down, probeOf, refusing, serviceOptions, well, withdrawing } from './support.ts';

/** Which accounts let the process become ready, and when. The tests run side by side, because they mostly wait. */

type Check = HealthOptions['upstreamCheck'];

const closers: (() => unknown)[] = [];
afterAll(() => Promise.all(closers.map((close) => close())));

const GRACE_MS = 60_000;

/** A service whose account of each name gets this treatment, in this order. */
async function start(check: Check, accounts: Readonly<Record<string, Behaviour>>, graceMs = GRACE_MS) {
  const behaviours: Record<string, Behaviour> = { ...accounts };
  const sent: string[] = [];
  const upstream = await startHostile((exchange) => {
    const [, account = ''] = /^POST \/(\w+) /.exec(exchange.request) ?? [];
    sent.push(account);
    behaviours[account]?.(exchange);
  });
  closers.push(upstream.stop);
  const changes: [account: string, state: string, isObstacle: boolean][] = [];
  const write = (line: string) => {
    const { account, health, msg } = JSON.parse(line);
    changes.push([account, health, msg.includes('does not become ready')]);
  };
  const probes = Object.keys(accounts).map((name) => ({ ...probeOf(upstream.url, name), path: `/${name}` }));
  const service = createServiceHealth(probes, {
    ...serviceOptions(),
    upstreamCheck: check,
    graceMs,
    log: pino({ level: 'debug' }, { write }),
  });
  closers.push(() => service.close());
  const stateOf = (account: string) => service.accounts.get(account)?.status.state;
  return { service, behaviours, sent, changes, stateOf };
}

test.concurrent('by default readiness follows the first answer of the first account, without the time of grace, even if others are refused or down', async ({
  expect,
}) => {
  const { service, changes, stateOf } = await start('first', { a: well, b: refusing, c: down });
  expect(service.isReady).toBe(false);
  const begun = performance.now();
  await service.start();
  expect(service.isReady).toBe(true);
  expect(performance.now() - begun).toBeLessThan(GRACE_MS / 2);
  await expect.poll(() => [stateOf('b'), stateOf('c')]).toEqual(['refused', 'outage']);
  const expected = [
    ['a', 'well', false],
    ['b', 'refused', false],
    ['c', 'outage', false],
  ];
  expect(changes).toEqual(expect.arrayContaining(expected));
});

test.concurrent.for<[Check, string]>([
  ['first', 'a'],
  ['all', 'b'],
])(
  'a replica with a refused account never becomes ready, so old replicas keep serving: UPSTREAM_CHECK=%s, account %s',
  async ([check, name], { expect }) => {
    const accounts = { a: well, b: well, c: well, [name]: refusing };
    const { service, behaviours, changes, stateOf } = await start(check, accounts, 2_000);
    const ready = service.start();
    await expect.poll(() => stateOf(name)).toBe('refused');
    await sleep(2_100);
    expect(service.isReady).toBe(false);
    expect(changes).toContainEqual([name, 'refused', true]);
    behaviours[name] = well;
    service.requestProbe(name);
    await ready;
    expect([stateOf(name), service.isReady]).toEqual(['well', true]);
  },
);

describe.concurrent('what may be an outage delays readiness for the time of grace', () => {
  test.for<[string, Behaviour]>([
    ['fail', down],
    ['get no answer', hang],
    ['are inconclusive', answer(429, '')],
    ['are refused by a firewall, which a bot can provoke', answer(403, '<html>')],
    ['say that the service has paused the account', withdrawing],
  ])('readiness waits for the time of grace if probes %s', async ([, behave], { expect }) => {
    const { service } = await start('first', { a: behave }, 300);
    const begun = performance.now();
    await service.start();
    const tookMs = performance.now() - begun;
    expect(tookMs).toBeGreaterThanOrEqual(299);
    expect(tookMs).toBeLessThan(10_000);
    expect(service.accounts.get('a')?.status.hasWorked).toBe(false);
  });

  test('readiness waits no longer than the time of grace', async ({ expect }) => {
    const { service, behaviours, stateOf } = await start('first', { a: down });
    const ready = service.start();
    await expect.poll(() => stateOf('a')).toBe('outage');
    expect(service.isReady).toBe(false);
    behaviours['a'] = well;
    await ready;
    expect(stateOf('a')).toBe('well');
  });
});

test.concurrent('with `off`, and without accounts, the service is ready at once, and nothing is sent', async ({
  expect,
}) => {
  const off = await start('off', { a: refusing, b: down });
  const none = await start('all', {});
  for (const { service } of [off, none]) void service.start();
  expect([off.service.isReady, none.service.isReady]).toEqual([true, true]);
  await sleep(100);
  expect(off.sent).toEqual([]);
});

test.concurrent('readiness stays once it is reached, whatever happens to the accounts', async ({ expect }) => {
  const { service, behaviours, changes, stateOf } = await start('all', { a: well, b: well }, 5_000);
  await service.start();
  Object.assign(behaviours, { a: down, b: refusing });
  for (const name of service.accounts.keys()) service.requestProbe(name);
  await expect.poll(() => [stateOf('a'), stateOf('b')]).toEqual(['outage', 'refused']);
  expect(service.isReady).toBe(true);
  expect(changes.filter(([, state, isObstacle]) => state !== 'well' && isObstacle)).toEqual([]);
});

test.concurrent('after close() nothing is sent, and no timer is left', async ({ expect }) => {
  const closeAtOnce = () => {
    service.close();
  };
  const { service, sent } = await start('first', { a: closeAtOnce });
  void service.start();
  await expect.poll(() => sent).toEqual(['a']);
  const idle = await start('off', { a: well });
  idle.service.close();
  idle.service.requestProbe('a');
  // The second probe would come after 300 ms.
  await sleep(400);
  expect([sent, service.isReady, idle.sent]).toEqual([['a'], false, []]);
});
