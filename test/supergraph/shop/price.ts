const FORMAT = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'EUR' });

/** A price in cents, as it is written where the customer is. */
export function inCurrency(cents: number): string {
  return FORMAT.format(cents / 100);
}
