import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRfc3339 } from '../../src/runtime/rfc3339.ts';

/** Which texts are RFC 3339 date-times: rules that hold for every input, tried on many. */

const pad = (number: number, length = 2) => String(number).padStart(length, '0');

/** A valid RFC 3339 text, written from the grammar of RFC 3339, 5.6, with days that the platform's calendar knows. */
const validTime = fc
  .record({
    // Years 0000 to 9999 in UTC.
    date: fc.date({
      min: new Date('0000-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    }),
    separator: fc.constantFrom('T', 't'),
    fraction: fc.oneof(
      fc.constant(''),
      fc.nat({ max: 999_999_999 }).map((digits) => `.${digits}`),
    ),
    offset: fc.oneof(
      fc.constantFrom('Z', 'z'),
      fc
        .tuple(fc.constantFrom('+', '-'), fc.nat({ max: 23 }), fc.nat({ max: 59 }))
        .map(([sign, hour, minute]) => `${sign}${pad(hour)}:${pad(minute)}`),
    ),
  })
  .map(({ date, separator, fraction, offset }) => {
    const [day, time] = date.toISOString().slice(0, 19).split('T');
    return `${day}${separator}${time}${fraction}${offset}`;
  });

describe('RFC 3339', () => {
  test('takes what the grammar allows', () => {
    fc.assert(
      fc.property(validTime, (text) => isRfc3339(text)),
      { numRuns: 2_000 },
    );
  });

  test('refuses it with one part out of its range', () => {
    const broken = fc.tuple(
      validTime,
      fc.constantFrom([5, '13'], [5, '00'], [8, '32'], [8, '00'], [11, '24'], [14, '60'], [17, '61']) as fc.Arbitrary<
        [number, string]
      >,
    );
    fc.assert(
      fc.property(broken, ([text, [at, digits]]) => !isRfc3339(text.slice(0, at) + digits + text.slice(at + 2))),
      { numRuns: 2_000 },
    );
  });

  test('refuses it without its offset, and with anything around it', () => {
    const around = fc.string({ minLength: 1, maxLength: 3 }).filter((text) => !/^[\d]+$/.test(text));
    fc.assert(fc.property(validTime, (text) => !isRfc3339(text.replace(/([Zz]|[+-]\d\d:\d\d)$/, ''))));
    fc.assert(
      fc.property(validTime, around, (text, extra) => !isRfc3339(extra + text) && !isRfc3339(`${text} ${extra}`)),
    );
  });

  test('agrees with the calendar about each day', () => {
    const day = fc.tuple(
      fc.integer({ min: 1000, max: 9999 }),
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 31 }),
    );
    fc.assert(
      fc.property(day, ([year, month, date]) => {
        const exists = new Date(Date.UTC(year, month - 1, date)).getUTCDate() === date;
        return isRfc3339(`${year}-${pad(month)}-${pad(date)}T12:00:00Z`) === exists;
      }),
      { numRuns: 2_000 },
    );
  });

  // `test/conformance/catalogue.test.ts` has more of them.
  test.each(['1990-12-31T23:59:60-08:00', '2026-03-01 09:30:00Z'])('%j is none', (text) => {
    expect(isRfc3339(text)).toBe(false);
  });
});
