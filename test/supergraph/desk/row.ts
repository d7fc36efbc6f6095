import { make } from '../shop/dom.ts';
import type { Row } from './api.ts';
import type { Trouble } from './trouble.ts';
import { time, unseen, verdictBadge } from './views.ts';
import { customerOf, STATUSES, type Verdict } from './words.ts';

/**
 * One checkout of the list: a link with everything that it says, so that a screen reader reads it as one sentence.
 *
 * @param trouble why its judgement could not be read, if it could not
 */
export function rowView(row: Row, href: string, trouble: Trouble | undefined): HTMLAnchorElement {
  const rule = row.judgement?.decision?.rule;
  const link = make(
    'a',
    'row',
    cell('order', 'Order', row.order ? make('code', '', short(row.order.id)) : 'no order'),
    cell('item', 'Item', row.item),
    cell('customer', 'Customer', customerOf(row)),
    cell('status', 'Status', STATUSES[row.status]),
    cell('decision', 'Decision', verdictBadge(verdictOf(row, trouble))),
    cell('rule', 'Rule', rule === undefined ? 'no rule' : make('code', '', rule)),
    cell('time', 'Time', time(row.startedAt, 'short')),
  );
  link.href = href;
  link.dataset['id'] = row.id;
  return link;
}

function cell(name: string, label: string, content: Node | string): HTMLElement {
  const element = make('span', `cell cell-${name}`, unseen(`${label}: `), content);
  element.dataset['column'] = name;
  return element;
}

/** From the record that was opened, or from why there is none. */
export function verdictOf(
  { judged, judgement }: Pick<Row, 'judged' | 'judgement'>,
  trouble: Trouble | undefined,
): Verdict {
  if (judgement?.decision) return judgement.decision.action;
  if (!judged) return 'NOT_JUDGED';
  return trouble?.code === 'JUDGEMENT_UNREADABLE' ? 'UNREADABLE' : 'UNAVAILABLE';
}

/** The beginning of a long number. The whole one is in the detail. */
function short(id: string): string {
  return id.length > 16 ? `${id.slice(0, 14)}…` : id;
}
