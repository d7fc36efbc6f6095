import { z } from 'zod';

const dateTime = z.iso.datetime({ offset: true });

/** Is this an RFC 3339 date-time with an offset? `T` and `Z` may be lower case (5.6), and a leap second ends a day of UTC (5.7). */
export function isRfc3339(text: string): boolean {
  const upper = text.toUpperCase();
  // Neither zod nor `Date` knows a second 60. Without this colon the seconds are missing, which ISO 8601 allows.
  const usual = upper.replace(/(?<=^.{16}):60/, ':59');
  if (text[16] !== ':' || !dateTime.safeParse(usual).success) return false;
  return usual === upper || new Date(usual).toISOString().includes('T23:59:59');
}
