import { find, make } from '../shop/dom.ts';
import type { Answered, Api } from './api.ts';
import { askAnewView, focusLatest } from './ask-anew.ts';
import type { DetailFragment } from './generated/graphql.ts';
import { judgementView } from './judgement.ts';
import { relatedView } from './related.ts';
import { hashOf, type Route } from './route.ts';
import { verdictOf } from './row.ts';
import { troubleAt, troubleOf } from './trouble.ts';
import { factsView, heading, skeleton, time, troubleView, verdictBadge } from './views.ts';
import { customerOf, outcomeOf, VERDICTS } from './words.ts';

/** The open checkout: what was judged then, what was judged later, and what else came from the device. */
export interface Detail {
  /** Opens the route's checkout. `focus` moves the focus to its title. */
  open(route: Route, focus: boolean): Promise<void>;
  close(): void;
}

/** @param signedOut is called if the session has ended */
export function createDetail(api: Api, signedOut: () => void): Detail {
  const pane = find('detail', HTMLElement);
  const hint = make('p', 'hint', 'Choose a checkout to see what was judged.');
  /** Only the last question counts. */
  let asked = 0;

  /** Shows something below the title. The focus stays on the title if it was there. */
  function show(route: Route, title: string, focus: boolean, ...content: readonly Node[]): void {
    const back = make('a', 'back', '← All checkouts');
    back.href = hashOf({ decision: route.decision });
    const head = heading(2, title, true);
    head.id = 'detail-title';
    const moves = focus || pane.contains(document.activeElement);
    pane.replaceChildren(back, head, ...content);
    pane.scrollTop = 0;
    if (moves) head.focus();
  }

  function showAnswer(route: Route, answered: Answered<DetailFragment>): void {
    const { data, error } = answered;
    if (data) {
      show(route, `${data.item} for ${customerOf(data)}`, false, ...contentOf(data, route, answered));
      return;
    }
    if (!error) {
      show(
        route,
        'No checkout',
        false,
        make('p', 'hint', 'There is no checkout with this id. The link may be incomplete.'),
      );
      return;
    }
    const trouble = troubleOf(error);
    if (trouble.code === 'UNAUTHENTICATED') signedOut();
    else
      show(
        route,
        'No checkout',
        false,
        troubleView(trouble, () => void open(route, true)),
      );
  }

  async function open(route: Route, focus: boolean): Promise<void> {
    const { checkout } = route;
    if (checkout === undefined) return;
    const mine = ++asked;
    pane.ariaBusy = 'true';
    show(route, 'Loading …', focus, ...skeleton('skeleton-block', 4));
    const answered = await api.checkout(checkout);
    if (mine !== asked) return;
    pane.ariaBusy = 'false';
    showAnswer(route, answered);
  }

  function contentOf(data: DetailFragment, route: Route, { error, root }: Answered<DetailFragment>): Node[] {
    const trouble = troubleAt(error, [root, 'judgement']);
    const first = data.judgement ? judgementView(data.judgement) : missing(data, trouble);
    const later = data.laterJudgements.map(({ askedAt, askedBy, judgement }, index) => {
      const content = judgement
        ? judgementView(judgement)
        : troubleView(troubleAt(error, [root, 'laterJudgements', index, 'judgement']) ?? troubleOf(error));
      return section('later', make('span', '', 'Asked anew at ', time(askedAt, 'long'), ` by ${askedBy}`), content);
    });
    const failed = make('div', '');
    const askAnew = askAnewView(async () => {
      failed.replaceChildren();
      const mine = ++asked;
      const again = await api.judgeAgain(data.id);
      if (mine !== asked) return;
      if (again.data) {
        showAnswer(route, again);
        focusLatest();
      } else {
        const trouble = troubleOf(again.error);
        // Whoever lost the answer must not ask again without knowing what that costs, so there is no button for it.
        if (trouble.code === 'UNAUTHENTICATED') signedOut();
        else failed.replaceChildren(troubleView(trouble));
      }
    });
    return [
      make('p', 'outcome', outcomeOf(data)),
      factsView([
        ['Started at', time(data.startedAt, 'long')],
        ['Checkout', make('code', '', data.id)],
      ]),
      section('first', 'As judged at the checkout', first),
      ...later,
      askAnew,
      failed,
      section('related', 'The same device', relatedView(data, route)),
    ];
  }

  return {
    open,
    close: () => {
      asked += 1;
      pane.ariaBusy = 'false';
      pane.replaceChildren(hint);
    },
  };
}

function section(className: string, title: Node | string, content: Node): HTMLElement {
  const head = heading(3, '', true);
  head.append(title);
  return make('section', className, head, content);
}

/** Why there is no judgement to show. */
function missing(data: DetailFragment, trouble: ReturnType<typeof troubleAt>): HTMLElement {
  const verdict = verdictOf(data, trouble);
  const sentence = make('p', 'quiet', VERDICTS[verdict].sentence);
  return make(
    'div',
    'judgement',
    make('p', 'decided', verdictBadge(verdict)),
    sentence,
    trouble && troubleView(trouble),
  );
}
