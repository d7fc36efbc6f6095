const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,32})?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Is this an RFC 3339 date-time with an offset? `Date` also takes 30 February. Leap seconds follow RFC 3339, 5.7. */
export function isRfc3339(text: string): boolean {
  const match = RFC_3339.exec(text);
  if (!match) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetHour = Number(match[8] ?? 0);
  const offsetMinute = Number(match[9] ?? 0);
  // Day 0 of the next month is the last day of this month. The calendar repeats after 400 years.
  const lastDay = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (month < 1 || month > 12 || day < 1 || day > lastDay) return false;
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  const offset = (match[7] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const minuteOfUtcDay = (hour * 60 + minute - offset + 2 * 24 * 60) % (24 * 60);
  return second === 60 && minuteOfUtcDay === 23 * 60 + 59;
}
