import { make } from '../shop/dom.ts';
import type { DetailFragment, SummaryFragment } from './generated/graphql.ts';
import { hashOf, type Route } from './route.ts';
import { heading, time } from './views.ts';
import { customerOf, STATUSES } from './words.ts';

/** How many checkouts of a device the desk asks for. */
const MOST = 50;

/** The other checkouts from the device, and who is behind them. */
export function relatedView({ id, customer, judgement }: DetailFragment, route: Route): HTMLElement {
  const all = judgement?.device?.checkouts;
  if (!all) return make('p', 'quiet', 'Which device it was is not known, so nothing else can be found.');
  const others = all.filter((other) => other.id !== id);
  if (others.length === 0) return make('p', 'quiet', 'Nothing else came from this device.');
  const customers = customersOf(others.filter((other) => other.customer?.id !== customer?.id));
  return make(
    'div',
    '',
    ...(all.length === MOST ? [make('p', 'note', `Only the newest ${MOST} checkouts of this device are here.`)] : []),
    heading(4, 'Other customers'),
    customers.length === 0
      ? make('p', 'quiet', 'None: only this customer used it.')
      : make('ul', 'people', ...customers.map((text) => make('li', '', text))),
    heading(4, 'Other checkouts'),
    make('ul', 'others', ...others.map((other) => make('li', '', otherView(other, route)))),
  );
}

/** Each customer once, with how often they were there. */
function customersOf(checkouts: readonly SummaryFragment[]): string[] {
  const byCustomer = Map.groupBy(checkouts, ({ customer }) => customer?.id);
  return [...byCustomer.values()].flatMap((theirs) => {
    const [one] = theirs;
    const often = theirs.length === 1 ? '1 checkout' : `${theirs.length} checkouts`;
    return one ? [`${customerOf(one)}: ${often}`] : [];
  });
}

function otherView(other: SummaryFragment, { decision }: Route): HTMLElement {
  const link = make('a', '', `${other.item} for ${customerOf(other)}`);
  link.href = hashOf({ decision, checkout: other.id });
  return make('span', 'other', link, ` ${STATUSES[other.status]}, `, time(other.startedAt, 'short'));
}
