import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startProcess } from '../support/process.ts';
import { post } from '../support/requests.ts';
import { FORGERIES } from './forgeries.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { type OrderOutcome, orderInput, orderOutcome, sendOrders } from './orders-client.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';

/** What a bot does that has the whole schema and no solved captcha, or one solved captcha and many wishes. */

const ours = await createSigner();
const attacker = await createSigner();
const keyServer = await startKeyServer([ours.publicJwk]);
const attestation = { jwksUrl: keyServer.jwksUrl, issuer: ISSUER, ...ORDERS_AUDIENCE };
let placed = 0;
const orders = await startOrders({ attestation, placed: () => placed++ });
beforeEach(() => {
  placed = 0;
});
afterAll(async () => {
  await orders.stop();
  await keyServer.stop();
});

const outcomeOf = (token: string, changes = {}) =>
  orderOutcome(orders.url, orderInput({ attestation: token, ...changes }));
const SPENT = { __typename: 'ChallengeRequired', reason: 'SPENT' };
const PLACED = { __typename: 'OrderPlaced' };

describe('a forgery', () => {
  test.each(FORGERIES)('$name: no order, and a challenge because it is $verdict', async ({ make, verdict }) => {
    expect(await outcomeOf(await make(ours, attacker))).toEqual({
      __typename: 'ChallengeRequired',
      reason: verdict,
      audience: 'orders',
      action: 'placeOrder',
    });
    expect(placed).toBe(0);
  });

  test('1,000 of these give no order', async () => {
    const inputs = await Promise.all(
      Array.from({ length: 1_000 }, async (_, index) => {
        const forgery = FORGERIES[index % FORGERIES.length];
        return orderInput({ attestation: await forgery?.make(ours, attacker) });
      }),
    );
    expect(await typesOf(inputs)).toEqual({ ChallengeRequired: 1_000 });
    expect(placed).toBe(0);
  });
});

/** How many of the orders became what. */
async function typesOf(inputs: Parameters<typeof sendOrders>[1]): Promise<Record<string, number>> {
  const outcomes = await sendOrders(orders.url, inputs);
  const counts: Record<string, number> = {};
  for (const { __typename } of outcomes) counts[__typename] = (counts[__typename] ?? 0) + 1;
  return counts;
}

test('10,000 random changes of tokens that are signed but no proof give no order', async () => {
  const spent = await ours.sign();
  expect(await outcomeOf(spent)).toMatchObject(PLACED);
  placed = 0;
  const expired = await ours.sign({ iat: 1_700_000_000, exp: 1_700_000_120 });
  const seeds = [spent, expired, await ours.sign({ aud: 'payments' }), await ours.sign({ sub: 'user-2' })];
  const tokens = fc.sample(mutations(seeds), 10_000);
  expect(new Set(tokens).size).toBeGreaterThan(5_000);
  const inputs = tokens.map((token) => orderInput({ attestation: token }));
  const outcomes = await sendOrders(orders.url, inputs);
  expect(tokens.filter((_, index) => outcomes[index]?.__typename !== 'ChallengeRequired')).toEqual([]);
  expect(placed).toBe(0);
  expect(keyServer.asked()).toBeLessThan(5);
}, 60_000);

/** Tokens with characters that are changed, cut out, doubled or inserted, with parts exchanged, or with changed JSON in a part. */
function mutations(seeds: readonly string[]): fc.Arbitrary<string> {
  const seed = fc.constantFrom(...seeds);
  const at = fc.nat(600);
  const characters = fc.string({ unit: 'binary', maxLength: 5 });
  const base64 = fc.stringMatching(/^[\w-]{1,4}$/);
  const spliced = fc
    .tuple(seed, at, fc.nat(20), fc.oneof(characters, base64))
    .map(([token, start, length, text]) => token.slice(0, start) + text + token.slice(start + length));
  const doubled = fc.tuple(seed, at, at).map(([token, start, end]) => token.slice(0, start) + token.slice(end));
  const exchanged = fc.tuple(seed, seed, seed).map((tokens) => tokens.map((token, i) => token.split('.')[i]).join('.'));
  const changedJson = fc
    .tuple(
      seed,
      fc.constantFrom(0, 1),
      fc.constantFrom('alg', 'typ', 'kid', 'jti', 'aud', 'sub', 'exp', 'b64', 'crit'),
      fc.jsonValue(),
    )
    .map(([token, part, name, value]) => {
      const parts = token.split('.');
      const json = JSON.parse(Buffer.from(parts[part] ?? '', 'base64url').toString());
      parts[part] = Buffer.from(JSON.stringify({ ...json, [name]: value })).toString('base64url');
      return parts.join('.');
    });
  return fc.oneof(spliced, doubled, exchanged, changedJson, characters);
}

describe('the clock of this service may differ by 5 s', () => {
  const NOW = 1_800_000_000;
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW * 1_000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    ['expired 4 s ago', { iat: NOW - 124, exp: NOW - 4 }, PLACED],
    ['expired 6 s ago', { iat: NOW - 126, exp: NOW - 6 }, { reason: 'EXPIRED' }],
    ['issued in 5 s', { iat: NOW + 5, exp: NOW + 125 }, PLACED],
    ['issued in 6 s', { iat: NOW + 6, exp: NOW + 126 }, { reason: 'INVALID' }],
    ['not valid for another 5 s', { nbf: NOW + 5 }, PLACED],
    ['not valid for another 6 s', { nbf: NOW + 6 }, { reason: 'INVALID' }],
    ['issued 305 s ago', { iat: NOW - 305, exp: NOW + 5 }, PLACED],
    ['issued 306 s ago', { iat: NOW - 306, exp: NOW + 5 }, { reason: 'EXPIRED' }],
  ])('a token that was, or is, %s', async (_when, claims, expected) => {
    expect(await outcomeOf(await ours.sign(claims))).toMatchObject(expected);
  });
});

describe('an attestation that was used', () => {
  test('is spent for everything else', async () => {
    const token = await ours.sign();
    expect(await outcomeOf(token)).toMatchObject(PLACED);
    expect(await outcomeOf(token)).toMatchObject(SPENT);
    expect(await outcomeOf(token, { item: 'Pen' })).toMatchObject(SPENT);
    expect(placed).toBe(1);
  });

  test('is spent whatever its bytes look like: the same signature in other characters, or its mirror image', async () => {
    const token = await ours.sign();
    expect(await outcomeOf(token)).toMatchObject(PLACED);
    const [header = '', payload = '', signature = ''] = token.split('.');
    // 86 characters carry 4 bits more than 64 bytes, which decoders ignore.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const otherEnding = signature.slice(0, -1) + alphabet[(alphabet.indexOf(signature.slice(-1)) + 1) % 64];
    expect(Buffer.from(otherEnding, 'base64url')).toEqual(Buffer.from(signature, 'base64url'));
    for (const same of [otherEnding, mirrored(signature)]) {
      expect(await outcomeOf([header, payload, same].join('.'))).toMatchObject(SPENT);
    }
  });

  test('is spent for another token about the same challenge', async () => {
    const jti = createHash('sha256').update('a challenge').digest('base64url');
    expect(await outcomeOf(await ours.sign({ jti }))).toMatchObject(PLACED);
    expect(await outcomeOf(await ours.sign({ jti }))).toMatchObject(SPENT);
  });

  test('50 times at the same moment is one order', async () => {
    const token = await ours.sign();
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(token)));
    expect(countPlaced(outcomes)).toBe(1);
    expect(outcomes.filter(({ reason }) => reason === 'SPENT')).toHaveLength(49);
    expect(placed).toBe(1);
  });

  test('50 times in one operation is one order', async () => {
    const token = await ours.sign();
    const inputs = Array.from({ length: 50 }, () => orderInput({ attestation: token }));
    expect(await typesOf(inputs)).toEqual({ OrderPlaced: 1, ChallengeRequired: 49 });
  });

  test('for something that is sold out is unspent, and then good for one order', async () => {
    const token = await ours.sign();
    for (let time = 0; time < 2; time++) {
      const refused = { __typename: 'OrderRefused', code: 'SOLD_OUT' };
      expect(await outcomeOf(token, { item: 'Signed print' })).toEqual(refused);
    }
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(token)));
    expect(countPlaced(outcomes)).toBe(1);
    expect(placed).toBe(1);
  });

  test('50 times at two replicas at the same moment is one order', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'device-trust-orders-'));
    const env = {
      DATABASE: join(folder, 'orders.sqlite'),
      ATTESTATION_ISSUER: ISSUER,
      ATTESTATION_JWKS_URL: keyServer.jwksUrl,
    };
    const replicas = [startProcess('test/supergraph/orders/main.ts', env)];
    try {
      await replicas[0]?.waitFor(/\n/);
      replicas.push(startProcess('test/supergraph/orders/main.ts', env));
      const urls = await Promise.all(replicas.map(async ({ waitFor }) => (await waitFor(/http:\S+/))[0]));
      const token = await ours.sign();
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          orderOutcome(urls[index % 2] ?? '', orderInput({ attestation: token })),
        ),
      );
      expect(countPlaced(outcomes)).toBe(1);
      const winner = outcomes.find(({ order }) => order)?.order?.id;
      for (const url of urls) {
        const { data } = await post(url, JSON.stringify({ query: `{ order(id: "${winner}") { item } }` }));
        expect(data).toEqual({ order: { item: 'Vase' } });
        expect(await orderOutcome(url, orderInput({ attestation: token }))).toMatchObject(SPENT);
      }
    } finally {
      for (const replica of replicas) await replica.stop();
      await rm(folder, { recursive: true });
    }
  });
});

function countPlaced(outcomes: readonly OrderOutcome[]): number {
  return outcomes.filter(({ __typename }) => __typename === 'OrderPlaced').length;
}

/** The other valid form of an ECDSA signature over P-256: s becomes n − s. */
function mirrored(signature: string): string {
  const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const bytes = Buffer.from(signature, 'base64url');
  const s = N - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  return Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]).toString(
    'base64url',
  );
}
