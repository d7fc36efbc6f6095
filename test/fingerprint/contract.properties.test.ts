import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  invalidRequestEnvelope,
  isInvalidRequest,
  isSuccess,
  successEnvelope,
} from '../../src/fingerprint/contract.ts';
import { toOutcome, toRejection } from '../../src/fingerprint/outcome.ts';
import { prepareApplication, toRequest } from '../../src/fingerprint/request.ts';
import { DATA } from './support.ts';

/** The checks that are written by hand accept what zod accepts, and the same is read from it. */

const RUNS = 3_000;

const signal = { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 };
const android = { ...DATA, signals: [signal, { ...signal, signal: 'NEW', level: 'LOW', confidence: 0 }] };
const basicOfWeb = { browser: { name: 'Chrome', major: 120 }, device: { vendor: null }, os: {} };
const BODIES = [
  android,
  { ...android, detail: { ...android.detail, client_type: 'iOS' } },
  { ...android, detail: { ...android.detail, client_type: 'Web/H5', device_basic: basicOfWeb } },
].map((data) => JSON.stringify({ code: 200, message: 'Success', data }));

const fieldError = { field: 'device_token', reason: 'Invalid token', type: 'value_error' };
const REFUSALS = [
  { errors: [fieldError] },
  { errors: [fieldError, { ...fieldError, field: 'body.event_time' }] },
  {},
].map((data) => JSON.stringify({ code: 400, message: 'Invalid request', data }));

/** Objects in objects, around the deepest nesting that is accepted. */
const nested = fc.integer({ min: 28, max: 36 }).map((levels) => {
  let value: unknown = {};
  for (let level = 1; level < levels; level += 1) value = level % 3 === 0 ? [value] : { inner: value };
  return value;
});

const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    true,
    '',
    ' ',
    'LOW',
    'high',
    'Android',
    'iOS',
    'Web/H5',
    [],
    {},
    [{}],
    signal,
    fieldError,
  ),
  fc.constantFrom(200, 400, '200', 0, 1, -0.000_1, 1.000_1, 1e308),
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

/** One of these bodies with a few changes. */
function changed(texts: readonly string[]): fc.Arbitrary<unknown> {
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(changes, { maxLength: 3 }))
    .map(([text, given]) => JSON.parse(JSON.stringify(given.reduce(change, JSON.parse(text)) ?? null)));
}

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

test('a success is accepted as zod accepts it, and the same is read from it', () => {
  const seen = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(changed(BODIES), (json) => {
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

test('a refusal is accepted as zod accepts it if it names its errors, and the same is read from it', () => {
  const seen = { accepted: 0, withoutErrors: 0, refused: 0 };
  fc.assert(
    fc.property(changed(REFUSALS), (json) => {
      const parsed = invalidRequestEnvelope.safeParse(json);
      // Without the list zod supplies an empty one.
      const hasErrors = Object(Object(json).data).errors !== undefined;
      expect(isInvalidRequest(json)).toBe(parsed.success && hasErrors);
      const read = () => toOutcome(request, { status: 400, json }, 0);
      if (parsed.success) expect(read()).toEqual(toRejection(parsed.data.data.errors));
      else expect(read).toThrow(expect.objectContaining({ code: 'UPSTREAM_PROTOCOL_ERROR' }));
      seen[parsed.success ? (hasErrors ? 'accepted' : 'withoutErrors') : 'refused'] += 1;
    }),
    { numRuns: RUNS },
  );
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(RUNS / 20);
});

test.each(['[]', 'null', '"text"', '200', 'true'])('%s is neither', (text) => {
  expect(isSuccess(JSON.parse(text))).toBe(false);
  expect(isInvalidRequest(JSON.parse(text))).toBe(false);
});
