import { expect, test } from 'vitest';
import { openUntilEnd, ROUTER_AND_SERVICES, requestOf, startHolding, statusOf } from './holding.ts';

/** What a caller holds is also what is made of its bytes: values of JSON, and documents. */

const POLL = { interval: 5 };

test.each(['[],', '{},', '{"1":1},', '[1],'])(
  'the weight of a request counts what is made of many %s',
  async (value) => {
    const { url, underWay } = await startHolding(ROUTER_AND_SERVICES);
    const x = value.repeat((512 * 1024) / value.length);
    const body = `{"query":"{ wait }","variables":{"x":[${x}0]}}`;
    const connections = Array.from({ length: 10 }, () => openUntilEnd(url, requestOf('orders', body)));
    await expect.poll(() => underWay.size + connections.filter((one) => one.received() !== '').length, POLL).toBe(10);
    expect(underWay.size).toBeLessThanOrEqual(2);
    expect(await statusOf(url, 'router')).toBe(200);
  },
);

test('the weight of a request counts what is made of many new documents', async () => {
  const { url, underWay } = await startHolding(ROUTER_AND_SERVICES);
  const query = (at: number) => `{ wait(x: [${'"" '.repeat(1_980)}]) _${at}: __typename }`;
  const connections = Array.from({ length: 40 }, (_, at) =>
    openUntilEnd(url, requestOf('orders', JSON.stringify({ query: query(at) }))),
  );
  await expect.poll(() => underWay.size + connections.filter((one) => one.received() !== '').length, POLL).toBe(40);
  // Each takes almost a megabyte, and a service may hold 16.
  expect(underWay.size).toBeLessThanOrEqual(17);
  expect(underWay.size).toBeGreaterThan(10);
  expect(await statusOf(url, 'router')).toBe(200);
});

test('a plugin of Apollo Server sees only the variables that the operation declares once it is executed', async () => {
  const seen: unknown[] = [];
  const executionDidStart = async ({ request }: { request: { variables?: unknown } }) =>
    void seen.push(request.variables);
  const { url } = await startHolding({ plugins: [{ requestDidStart: async () => ({ executionDidStart }) }] });
  const query = 'query ($length: Int!) { long(length: $length) }';
  const body = JSON.stringify({ query, variables: { length: 1, other: ['x'], toString: 1 }, unknown: 1 });
  expect(await statusOf(url, 'anyone', body)).toBe(200);
  expect(seen).toEqual([{ length: 1 }]);
});
