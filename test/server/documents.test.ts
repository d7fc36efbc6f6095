import { afterAll, expect, test } from 'vitest';
import { gainOf } from '../observability/exposition.ts';
import { ask, type HttpAnswer, post } from '../support/requests.ts';
import { startWithoutUpstreams } from './support.ts';

/** A document is parsed and validated once. */

const app = await startWithoutUpstreams();
afterAll(app.stop);

/** The documents that were known, and those that were parsed, while something was done. */
async function countsOf(act: () => Promise<unknown>): Promise<readonly [hits: number, misses: number]> {
  const { sum } = await gainOf(app, act);
  const count = (result: string) => sum('device_trust_documents_total', { result });
  return [count('hit'), count('miss')];
}

test('a document is parsed once, also with several operations, and whatever its variables are', async () => {
  const query = 'query One($t: String!) { deviceFingerprint(token: $t) { __typename } } query Two { __typename }';
  const send = (operationName: string, t: unknown) =>
    post(app.graphqlUrl, JSON.stringify({ query, operationName, variables: { t } }));
  const counts = await countsOf(async () => {
    for (const [operationName, t] of [
      ['Two', 'a'],
      ['One', 1],
      ['One', ''],
      ['Three', 'a'],
    ] as const)
      await send(operationName, t);
  });
  expect(counts).toEqual([3, 1]);
});

test('a request that names another operation than the one in its document is refused, also if that name is known', async () => {
  const send = (name: string, operationName: string) =>
    post(app.graphqlUrl, JSON.stringify({ query: `query ${name} { __typename }`, operationName }));
  const good = { status: 200, data: { __typename: 'Query' } };
  expect(await send('Known', 'Known')).toMatchObject(good);
  expect(await send('Other', 'Other')).toMatchObject(good);
  for (const [name, operationName] of [
    ['Known', 'Other'],
    ['Other', 'Known'],
    ['Known', '_____'],
  ] as const) {
    const { status, errors } = await send(name, operationName);
    expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'OPERATION_RESOLUTION_FAILURE']);
  }
});

test.each([
  ['with a syntax error', '{ signalCatalogue { code }'],
  ['with an unknown field', 'query First { nothing }'],
  ['whose error names the operation', 'query First { deviceFingerprint(token: $t) { __typename } }'],
  ['that differs from it in the name alone', 'query Other { deviceFingerprint(token: $t) { __typename } }'],
  ['of introspection, which live mode refuses', '{ __schema { types { name } } }'],
  ['with two operations of one name', 'query A { __typename } query A { __typename }'],
])('an invalid document %s has the same answer again, without being parsed', async (_what, query) => {
  const answers: HttpAnswer[] = [];
  const send = async (operationName?: string) => {
    answers.push(await post(app.graphqlUrl, JSON.stringify({ query, operationName })));
  };
  expect(await countsOf(send)).toEqual([0, 1]);
  expect(await countsOf(() => send('Nowhere'))).toEqual([1, 0]);
  const [first, again] = answers.map(({ status, headers, text }) => {
    const { date: _, 'x-request-id': __, ...others } = Object.fromEntries(headers);
    return [status, others, text];
  });
  expect(first?.[0]).toBe(400);
  expect(again).toEqual(first);
});

test('a request that is wrong spoils no document: the next request with it is answered', async () => {
  const query = 'query Valid($t: String!) { deviceFingerprint(token: $t) { __typename } }';
  for (const t of [1, 'sandbox:web', 1, 'sandbox:web'])
    expect((await ask(app.graphqlUrl, query, { t })).status).toBe(t === 1 ? 400 : 200);
});
