import { make } from '../shop/dom.ts';
import type { Trouble } from './trouble.ts';
import { longTime, shortTime, VERDICTS, type Verdict } from './words.ts';

/** The small parts that several views share. */

/** A verdict as text, colour and shape. */
export function verdictBadge(verdict: Verdict): HTMLElement {
  const shape = make('span', 'shape');
  shape.ariaHidden = 'true';
  return make('span', `verdict verdict-${verdict}`, shape, VERDICTS[verdict].label);
}

/** A moment where the analyst is. `long` has seconds and the offset. */
export function time(text: string, form: 'short' | 'long'): HTMLElement {
  const element = make('time', '', form === 'short' ? shortTime(text) : longTime(text));
  element.dateTime = text;
  element.title = longTime(text);
  return element;
}

/** Text that only screen readers read. */
export const unseen = (text: string): HTMLElement => make('span', 'unseen', text);

/** A heading; with `focusable` a script can move the focus to it. */
export function heading(level: 2 | 3 | 4, text: string, focusable = false): HTMLElement {
  const element = make(`h${level}`, '', text);
  if (focusable) element.tabIndex = -1;
  return element;
}

export function button(text: string, className: string, press: () => void): HTMLButtonElement {
  const element = make('button', className, text);
  element.type = 'button';
  element.addEventListener('click', press);
  return element;
}

/** What happened, whose side it is, what to do, and a button for it if trying again can help. */
export function troubleView({ code, title, advice, retry }: Trouble, again?: () => void): HTMLElement {
  const name = make('p', 'code-of', 'Code: ', make('code', '', code));
  const panel = make('div', 'trouble', make('p', 'title', title), make('p', '', advice), name);
  panel.setAttribute('role', 'alert');
  panel.dataset['code'] = code;
  if (retry && again) panel.append(button('Try again', '', again));
  return panel;
}

/** Names with their values. */
export function factsView(facts: readonly (readonly [string, Node | string])[]): HTMLElement {
  const pairs = facts.map(([name, value]) => make('div', '', make('dt', '', name), make('dd', '', value)));
  return make('dl', 'facts', ...pairs);
}

/** Grey bars where something will be. They say nothing to a screen reader, which hears the status instead. */
export function skeleton(className: string, count: number): HTMLElement[] {
  return Array.from({ length: count }, () => {
    const bar = make('div', `skeleton ${className}`);
    bar.ariaHidden = 'true';
    return bar;
  });
}
