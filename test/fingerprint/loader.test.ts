import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startInLiveMode, startInSandboxMode } from '../support/app.ts';
import { ENTITIES_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { passOnTo, startUpstream } from '../support/upstream.ts';

/** How many upstream calls an operation costs. `test/graphql/entities.test.ts` has references that fail. */

const sandboxed = await startInSandboxMode();
const glb = await startUpstream(passOnTo(sandboxed.sandboxUrls?.GLB ?? ''));
const na = await startUpstream(passOnTo(sandboxed.sandboxUrls?.NA ?? ''));
const app = await startInLiveMode({ GLB: glb.url, NA: na.url, EU: 'http://127.0.0.1:9' });
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
  test.each([
    [
      'metadata in another order',
      (i: number) => (i ? '{ email: "e", accountId: "a" }' : '{ accountId: "a", email: "e" }'),
    ],
    [
      'further keys in another order, also in a list',
      (i: number) => `{ additional: { ${i ? 'b: 1, a: [{ p: 1, q: 2 }]' : 'a: [{ q: 2, p: 1 }], b: 1'} } }`,
    ],
    ['null for nothing', (i: number) => (i ? '{ accountId: "a", email: null }' : '{ accountId: "a" }')],
  ])('equal queries of a token in one operation share one event: %s', async (_what, metadata) => {
    await ask(
      app.graphqlUrl,
      aliased(2, (i) => `token: "sandbox:ios", metadata: ${metadata(i)}`),
    );
    expect(glb.received).toHaveLength(1);
  });

  test.each([
    ['token', (i: number) => `token: "sandbox:ios#${i}"`],
    ['metadata', (i: number) => `token: "sandbox:ios", metadata: { accountId: "${i}" }`],
    ['the order of a list', (i: number) => `token: "sandbox:ios", metadata: { additional: { l: [${i}, ${1 - i}] } }`],
    ['eventType', (i: number) => `token: "sandbox:ios", eventType: "${i}"`],
    ['eventTime', (i: number) => `token: "sandbox:ios", eventTime: "2026-01-01T00:00:0${i}Z"`],
    // The same instant, but the service receives different texts.
    [
      'the text of eventTime',
      (i: number) => `token: "sandbox:ios", eventTime: "2026-01-01T00:00:00${i ? 'Z' : '+00:00'}"`,
    ],
  ])('queries of one operation that differ are two events: %s', async (_what, args) => {
    await ask(app.graphqlUrl, aliased(2, args));
    expect(glb.received).toHaveLength(2);
  });
});

describe('entity references', () => {
  test('entity references may name a token alone, or a token and an application, in any mixture', async () => {
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
});
