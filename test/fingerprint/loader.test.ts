import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startInLiveMode, startInSandboxMode } from '../support/app.ts';
import { ENTITIES_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { passOnTo, startUpstream } from '../support/upstream.ts';

/** How many upstream calls an operation costs, and that a failing token fails alone. */

const sandboxed = await startInSandboxMode();
const glb = await startUpstream(passOnTo(sandboxed.sandboxUrls?.GLB ?? ''));
const na = await startUpstream(passOnTo(sandboxed.sandboxUrls?.NA ?? ''));
const MAX_CALLS = 10;
const app = await startInLiveMode(
  { GLB: glb.url, NA: na.url, EU: 'http://127.0.0.1:9' },
  { maxUpstreamCalls: MAX_CALLS },
);
afterAll(async () => {
  await Promise.all([app.stop(), glb.stop(), na.stop()]);
  await sandboxed.stop();
});
beforeEach(() => {
  glb.received.length = 0;
  na.received.length = 0;
});

const TYPE = { __typename: 'DeviceFingerprint' };
const entities = (representations: readonly Record<string, unknown>[]) =>
  ask(app.graphqlUrl, ENTITIES_QUERY, { representations });

/** `count` aliased queries, each with these arguments. */
const aliased = (count: number, args: (index: number) => string) =>
  `{ ${Array.from({ length: count }, (_, i) => `a${i}: deviceFingerprint(${args(i)}) { ... on DeviceFingerprint { eventId } }`).join(' ')} }`;

describe('within one operation', () => {
  test('the same token ten times is one call, and one event', async () => {
    const { data } = await ask(
      app.graphqlUrl,
      aliased(10, () => 'token: "sandbox:android"'),
    );
    expect(new Set(Object.values<{ eventId: string }>(data).map(({ eventId }) => eventId)).size).toBe(1);
    expect(Object.keys(data)).toHaveLength(10);
    expect(glb.received).toHaveLength(1);
  });

  test.each([
    [
      'metadata in another order',
      (i: number) => (i ? '{ email: "e", accountId: "a" }' : '{ accountId: "a", email: "e" }'),
    ],
    ['null for nothing', (i: number) => (i ? '{ accountId: "a", email: null }' : '{ accountId: "a" }')],
  ])('requests that mean the same are one call: %s', async (_what, metadata) => {
    await ask(
      app.graphqlUrl,
      aliased(2, (i) => `token: "sandbox:ios", metadata: ${metadata(i)}`),
    );
    expect(glb.received).toHaveLength(1);
  });

  test.each([
    ['token', (i: number) => `token: "sandbox:ios#${i}"`],
    ['metadata', (i: number) => `token: "sandbox:ios", metadata: { accountId: "${i}" }`],
    ['eventType', (i: number) => `token: "sandbox:ios", eventType: "${i}"`],
    ['eventTime', (i: number) => `token: "sandbox:ios", eventTime: "2026-01-01T00:00:0${i}Z"`],
    // The same instant, but the service receives different texts.
    [
      'the text of eventTime',
      (i: number) => `token: "sandbox:ios", eventTime: "2026-01-01T00:00:00${i ? 'Z' : '+00:00'}"`,
    ],
  ])('requests that differ are two calls: %s', async (_what, args) => {
    await ask(app.graphqlUrl, aliased(2, args));
    expect(glb.received).toHaveLength(2);
  });

  test('requests to different applications are two calls', async () => {
    await ask(
      app.graphqlUrl,
      aliased(2, (i) => `token: "sandbox:ios", publicKey: "${i ? 'pk_sandbox_na' : 'pk_sandbox_glb'}"`),
    );
    expect([glb.received.length, na.received.length]).toEqual([1, 1]);
  });

  test('the next operation makes a call of its own: outcomes are never shared between operations', async () => {
    for (let i = 0; i < 2; i++)
      await ask(
        app.graphqlUrl,
        aliased(1, () => 'token: "sandbox:android"'),
      );
    expect(glb.received).toHaveLength(2);
  });
});

describe('entity references', () => {
  test('one different token too many fails alone; the same token again costs nothing', async () => {
    const tokens = Array.from({ length: MAX_CALLS + 1 }, (_, i) => ({ ...TYPE, token: `sandbox:web#${i}` }));
    const { data, errors } = await entities([...tokens, { ...TYPE, token: 'sandbox:web#0' }]);
    expect(errors).toMatchObject([
      { path: ['_entities', MAX_CALLS], extensions: { code: 'OVERLOADED', retryable: false } },
    ]);
    expect(data._entities.filter((entity: unknown) => entity !== null)).toHaveLength(MAX_CALLS + 1);
    expect(glb.received).toHaveLength(MAX_CALLS);
  });

  test('to 3 tokens are 3 calls, even if they are 30', async () => {
    const { data, errors } = await entities(
      Array.from({ length: 30 }, (_, i) => ({ ...TYPE, token: `sandbox:web#${i % 3}` })),
    );
    expect(errors).toBeUndefined();
    expect(data._entities).toHaveLength(30);
    expect(data._entities[0].requestId).toBe(data._entities[3].requestId);
    expect(data._entities[0].requestId).not.toBe(data._entities[1].requestId);
    expect(glb.received).toHaveLength(3);
  });

  test('may name a token alone, or a token and an application, in any mixture', async () => {
    const { data } = await entities([
      { ...TYPE, token: 'sandbox:web' },
      { ...TYPE, token: 'sandbox:web', publicKey: 'pk_sandbox_glb' },
      { ...TYPE, token: 'sandbox:web', publicKey: 'pk_sandbox_na' },
    ]);
    expect(data._entities.map(({ publicKey }: { publicKey: string }) => publicKey)).toEqual([
      'pk_sandbox_glb',
      'pk_sandbox_glb',
      'pk_sandbox_na',
    ]);
    expect([glb.received.length, na.received.length]).toEqual([1, 1]);
  });

  test('a reference that fails leaves the others intact', async () => {
    const { data, errors } = await entities([
      { ...TYPE, token: 'sandbox:android' },
      { ...TYPE, token: 'not-a-token' },
      { ...TYPE, token: 'sandbox:error:500' },
      { ...TYPE, token: 'sandbox:ios', publicKey: 'pk_unknown' },
      { ...TYPE, token: 42 },
      { ...TYPE },
      { ...TYPE, token: 'sandbox:ios', publicKey: 'pk_sandbox_disabled' },
      { ...TYPE, token: 'sandbox:web', publicKey: 'pk_sandbox_eu' },
      { ...TYPE, token: 'sandbox:ios' },
    ]);
    expect(data._entities.map((entity: { clientType: string } | null) => entity?.clientType)).toEqual([
      'ANDROID',
      ...Array(7).fill(undefined),
      'IOS',
    ]);
    const codes = errors?.map(({ path, extensions }) => [path?.[1], extensions.code]);
    expect(Object.fromEntries(codes ?? [])).toEqual({
      1: 'DEVICE_TOKEN_REJECTED',
      2: 'UPSTREAM_UNAVAILABLE',
      3: 'BAD_USER_INPUT',
      4: 'BAD_USER_INPUT',
      5: 'BAD_USER_INPUT',
      6: 'UPSTREAM_REJECTED',
      7: 'UPSTREAM_UNAVAILABLE', // nothing listens in region EU, and no other region is tried
    });
  });
});
