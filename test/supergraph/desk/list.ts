import { find, make } from '../shop/dom.ts';
import type { Answered, Api, CheckoutPage } from './api.ts';
import { hashOf, type Route } from './route.ts';
import { rowView } from './row.ts';
import { type Trouble, troubleAt, troubleOf } from './trouble.ts';
import { button, skeleton, troubleView } from './views.ts';

/** The list of checkouts, with the arrow keys between its rows. */
export interface List {
  /** Fetches the newest checkouts of the route's decision. */
  load(route: Route): Promise<void>;
  /** Marks the open checkout as the current one. */
  mark(route: Route): void;
  /** Moves the focus to the row of this checkout, or to the first one. */
  focus(checkout?: string): void;
}

/** @param signedOut is called if the session has ended */
export function createList(api: Api, signedOut: () => void): List {
  const frame = find('rows', HTMLElement);
  const count = find('count', HTMLElement);
  const rows = make('ol', 'rows');
  const more = make('div', 'more');
  /** Only the last question counts: whoever changes the filter quickly sees what they chose last. */
  let asked = 0;
  let shown: Route = {};

  rows.addEventListener('keydown', (event) => {
    const links = linksOf(rows);
    const at = links.findIndex((link) => link.matches(':focus'));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1 }[event.key];
    if (to === undefined || !links[to]) return;
    event.preventDefault();
    moveTo(links[to]);
  });

  /** Only one row is in the order of the tab key, so that a long list is left with one press. */
  function moveTo(link: HTMLAnchorElement): void {
    for (const other of linksOf(rows)) other.tabIndex = other === link ? 0 : -1;
    link.focus();
  }

  function showPage({ items, next }: CheckoutPage, answered: Answered<unknown>): void {
    const added = items.map((item, index) => {
      const trouble = troubleAt(answered.error, ['checkouts', 'items', index, 'judgement']);
      return make('li', '', rowView(item, hashOf({ ...shown, checkout: item.id }), trouble));
    });
    rows.append(...added);
    more.replaceChildren(
      ...(next === null ? [] : [button('Show older checkouts', 'wide-button', () => showOlder(next))]),
    );
    const total = linksOf(rows).length;
    count.textContent = `${total}${next === null ? '' : ' newest'} ${total === 1 ? 'checkout' : 'checkouts'}`;
    mark(shown);
  }

  async function showOlder(next: string): Promise<void> {
    const mine = ++asked;
    more.replaceChildren(make('p', 'quiet', 'Loading …'));
    const answered = await api.checkouts(shown.decision, next);
    if (mine !== asked) return;
    if (!answered.data) {
      more.replaceChildren(troubleView(troubleOf(answered.error), () => void showOlder(next)));
      return;
    }
    const before = linksOf(rows).length;
    showPage(answered.data, answered);
    const first = linksOf(rows)[before];
    if (first) moveTo(first);
  }

  function mark(route: Route): void {
    shown = route;
    const links = linksOf(rows);
    const current = links.find(({ dataset }) => dataset['id'] === route.checkout);
    const reachable = current ?? links.find((link) => link.tabIndex === 0) ?? links[0];
    for (const link of links) {
      link.ariaCurrent = link === current ? 'true' : null;
      link.tabIndex = link === reachable ? 0 : -1;
    }
  }

  function showTrouble(trouble: Trouble): void {
    count.textContent = '';
    if (trouble.code === 'UNAUTHENTICATED') signedOut();
    else frame.replaceChildren(troubleView(trouble, () => void load(shown)));
  }

  async function load(route: Route): Promise<void> {
    const mine = ++asked;
    shown = route;
    frame.ariaBusy = 'true';
    count.textContent = 'Loading …';
    frame.replaceChildren(...skeleton('skeleton-row', 8));
    const answered = await api.checkouts(route.decision);
    if (mine !== asked) return;
    frame.ariaBusy = 'false';
    if (!answered.data) return showTrouble(troubleOf(answered.error));
    rows.replaceChildren();
    frame.replaceChildren(rows, more);
    showPage(answered.data, answered);
    if (answered.data.items.length === 0) frame.replaceChildren(make('p', 'hint', emptyText(route)));
  }

  return {
    load,
    mark,
    focus: (checkout) => {
      const links = linksOf(rows);
      const link = links.find(({ dataset }) => dataset['id'] === checkout) ?? links[0];
      if (link) moveTo(link);
    },
  };
}

function linksOf(rows: HTMLElement): HTMLAnchorElement[] {
  return [...rows.querySelectorAll<HTMLAnchorElement>('a.row')];
}

function emptyText({ decision }: Route): string {
  if (decision) return 'There is no checkout with this decision.';
  return 'There is no checkout yet. As soon as somebody buys something in the shop, it is here.';
}
