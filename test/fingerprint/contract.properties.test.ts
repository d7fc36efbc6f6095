import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSuccess, successEnvelope } from '../../src/fingerprint/contract.ts';
import { toOutcome } from '../../src/fingerprint/outcome.ts';
import { prepareApplication, toRequest } from '../../src/fingerprint/request.ts';
import { DATA } from './support.ts';

/** The check of a success that is written by hand accepts what zod accepts, and reads the same from it. */

const RUNS = 20_000;

const signal = { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 };
const android = { ...DATA, signals: [signal, { ...signal, signal: 'NEW', level: 'LOW', confidence: 0 }] };
const basicOfWeb = { browser: { name: 'Chrome', major: 120 }, device: { vendor: null }, os: {} };
const BODIES = [
  android,
  { ...android, detail: { ...android.detail, client_type: 'iOS' } },
  { ...android, detail: { ...android.detail, client_type: 'Web/H5', device_basic: basicOfWeb } },
].map((data) => JSON.stringify({ code: 200, message: 'Success', data }));

/** Objects in objects, around the deepest nesting that is accepted. */
const nested = fc.integer({ min: 28, max: 36 }).map((levels) => {
  let value: unknown = {};
  for (let level = 1; level < levels; level += 1) value = level % 3 === 0 ? [value] : { inner: value };
  return value;
});

const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(undefined, null, true, '', ' ', 'LOW', 'high', 'Android', 'iOS', 'Web/H5', [], {}, [{}], signal),
  fc.constantFrom(200, '200', 0, 1, -0.000_1, 1.000_1, 1e308),
  nested,
  fc.jsonValue(),
);

interface Change {
  /** Which way to go down from the body, as parts of the number of keys at each step; where they end a value is replaced. */
  readonly steps: readonly number[];
  /** Instead of replacing a value, adds one under this key. */
  readonly added: string | undefined;
  readonly value: unknown;
}

const changes: fc.Arbitrary<Change> = fc.record({
  steps: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 5 }),
  added: fc.option(fc.constantFrom('new', 'browser', 'os', 'toString'), { nil: undefined, freq: 4 }),
  value: values,
});

const bodies = fc
  .tuple(fc.constantFrom(...BODIES), fc.array(changes, { maxLength: 3 }))
  .map(([text, given]) => JSON.parse(JSON.stringify(given.reduce(change, JSON.parse(text)) ?? null)));

function change(body: unknown, { steps: [step, ...others], added, value }: Change): unknown {
  if (step === undefined || typeof body !== 'object' || body === null) return value;
  const keys = Object.keys(body);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined || (others.length === 0 && added !== undefined)) return { ...body, [added ?? 'new']: value };
  const inner = change(Object(body)[key], { steps: others, added, value });
  return Array.isArray(body) ? body.with(Number(key), inner) : { ...body, [key]: inner };
}

const application = prepareApplication({ publicKey: 'pk', secret: 'sk', region: 'EU', baseUrl: 'https://eu.test' });
const request = toRequest({ token: 't' }, () => application);

test('it accepts what zod accepts, and reads the same', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(bodies, (json) => {
      const parsed = successEnvelope.safeParse(json);
      expect(isSuccess(json)).toBe(parsed.success);
      seen[parsed.success ? 'accepted' : 'refused'] += 1;
      if (parsed.success) {
        expect(toOutcome(request, { status: 200, json }, 0)).toEqual(
          toOutcome(request, { status: 200, json: parsed.data }, 0),
        );
      }
    }),
    { numRuns: RUNS },
  );
  expect(seen.accepted).toBeGreaterThan(RUNS / 20);
  expect(seen.refused).toBeGreaterThan(RUNS / 20);
});

test.each(['[]', 'null', '"text"', '200', 'true'])('%s is none', (text) => {
  expect(isSuccess(JSON.parse(text))).toBe(false);
});
