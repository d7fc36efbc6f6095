import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { entitiesQuery } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { startCpuStopwatch } from '../support/stopwatch.ts';
import { pieces, times } from '../support/times.ts';
import { CANARIES, expectNoCanary, nested, startRecorded } from './support.ts';

/** `_entities`: nothing is invented, nothing is repeated, and a representation carries its key and no more. */

const { app, upstream, stop } = await startRecorded();
const sandbox = await startInSandboxMode();
afterAll(() => Promise.all([stop(), sandbox.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
});

const QUERY = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on FingerprintDevice { id }
    ... on DeviceFingerprint { publicKey version device { id } }
  }
}`;
const TYPES_QUERY = entitiesQuery('clientType');
const entities = (...representations: unknown[]) => ask(app.graphqlUrl, QUERY, { representations });

describe.each(CANARIES)('a reference with %s in it', (canary) => {
  test.each<[string, unknown]>([
    ['a FingerprintDevice, which is not resolvable here', { __typename: 'FingerprintDevice', id: canary }],
    ['a type that is no entity', { __typename: 'IpInfo', ip: canary }],
    ['a type that does not exist', { __typename: canary, id: canary }],
    ['a type that every object has', { __typename: 'constructor', id: canary }],
    ['a type that is a list', { __typename: [canary] }],
    ['no type', { id: canary }],
    ['no object', canary],
    ['no key', { __typename: 'DeviceFingerprint', version: canary, device: { id: canary } }],
    ['a key that is a list', { __typename: 'DeviceFingerprint', token: [canary] }],
    ['an unknown application', { __typename: 'DeviceFingerprint', token: canary, publicKey: canary }],
    ['an application that is an object', { __typename: 'DeviceFingerprint', token: canary, publicKey: { canary } }],
  ])('%s: no data, no call', async (_what, representation) => {
    const answer = await entities(representation);
    expect([answer.status, answer.data]).toEqual([200, { _entities: [null] }]);
    expect(answer.errors).toMatchObject([
      { path: ['_entities', 0], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
    ]);
    expectNoCanary(answer.text);
    expectNoCanary(app.logged());
    expect(upstream.received).toEqual([]);
  });
});

test('a single reference stands for a list of one', async () => {
  const representations = { __typename: 'DeviceFingerprint', token: 'sandbox:ios' };
  const { data, errors } = await ask(sandbox.graphqlUrl, TYPES_QUERY, { representations });
  expect([data, errors]).toEqual([{ _entities: [{ clientType: 'IOS' }] }, undefined]);
});

test('fields beside the key do not become arguments', async () => {
  await entities({
    __typename: 'DeviceFingerprint',
    token: 'tok',
    metadata: { email: { not: 'a string' }, additional: 'not an object' },
    eventTime: 'not a time',
    eventType: 5,
  });
  expect(upstream.received.map(({ body }) => JSON.parse(body))).toEqual([{ device_token: 'tok' }]);
});

test('fields beside the key cannot overflow the stack', async () => {
  const metadata = { additional: nested(3_000) };
  const { errors } = await entities({ __typename: 'DeviceFingerprint', token: 'tok', metadata });
  expect(errors).toMatchObject([{ extensions: { code: 'DEVICE_TOKEN_REJECTED' } }]);
});

test('equal references are answered each in its place and with its own error', async () => {
  const one = { __typename: 'DeviceFingerprint', token: 'sandbox:ios' };
  const sameKeys = { token: 'sandbox:ios', __typename: 'DeviceFingerprint' };
  const other = { ...one, token: 'sandbox:web' };
  const rejected = { ...one, token: 'made-up' };
  const representations = [one, rejected, other, sameKeys, rejected, one];
  for (let time = 0; time < 4; time += 1) {
    const { data, errors } = await ask(sandbox.graphqlUrl, TYPES_QUERY, { representations });
    const [ios, web] = [{ clientType: 'IOS' }, { clientType: 'WEB_H5' }];
    expect(data._entities).toEqual([ios, null, web, ios, null, ios]);
    expect(errors?.map(({ path }) => path)).toEqual([1, 4].map((at) => ['_entities', at]));
    const line = JSON.parse(sandbox.logged().trimEnd().split('\n').at(-1) ?? '');
    expect([line.outcomes, line.upstreamCalls]).toEqual([{ DeviceFingerprint: 4, DeviceFingerprintRejected: 2 }, 3]);
  }
});

test('a field that fails for equal references has an error for each of them, up to 100 in a request', async () => {
  // minConfidence has to be from 0 to 1.
  const query = entitiesQuery('clientType signals(minConfidence: 2) { name }').replace('_entities', 'all: _entities');
  const tokens = ['sandbox:ios', 'sandbox:web'];
  const representations = times(120, (at) => ({ __typename: 'DeviceFingerprint', token: tokens[at % 2] }));
  for (let time = 0; time < 4; time += 1) {
    const { data, errors } = await ask(sandbox.graphqlUrl, query, { representations });
    const [ios, web] = ['IOS', 'WEB_H5'].map((clientType) => ({ clientType, signals: null }));
    expect(data.all).toEqual(representations.map((_, at) => (at % 2 === 0 ? ios : web)));
    expect(errors?.map(({ path }) => path)).toEqual(times(100, (at) => ['all', at, 'signals']));
    expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(new Set(['BAD_USER_INPUT']));
  }
});

test('1,000 references is what a request may have, in all its fields together', async () => {
  const fields = pieces(90, (at) => `a${at}: _entities(representations: $r) { __typename }`);
  const r = times(1_000, () => ({ __typename: 'Nothing' }));
  const cpuMs = startCpuStopwatch();
  const { status, text, data } = await ask(app.graphqlUrl, `query ($r: [_Any!]!) { ${fields} }`, { r });
  expect([status, data]).toEqual([400, undefined]);
  expect(text.length).toBeLessThan(500);
  expect(cpuMs()).toBeLessThan(3_000);
});
