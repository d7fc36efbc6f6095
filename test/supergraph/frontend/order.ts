import type { ApolloClient } from '@apollo/client';
import type { Answer } from './answer.ts';
import { type Checkout, checkOut } from './checkout.ts';
import { make } from './dom.ts';
import { failureView } from './failure.ts';
import type { CaptchaFailureCategory, PlaceOrderInput, ValidateCaptchaInput } from './generated/graphql.ts';

/** Buys something, if a captcha lets it. */
export async function orderAnswer(
  client: ApolloClient,
  captcha: ValidateCaptchaInput,
  order: PlaceOrderInput,
): Promise<Answer> {
  const { verified, placed } = await checkOut(client, captcha, order);
  // Without an answer nobody knows whether an order that was sent arrived.
  const unplaced = placed ? 'The order is not confirmed.' : 'No order was placed.';
  return {
    summary: placed?.data?.placeOrder ? 'The order is placed.' : unplaced,
    details: [make('ol', 'steps', captchaStep(verified), orderStep(placed))],
  };
}

const CATEGORIES: Readonly<Record<CaptchaFailureCategory, string>> = {
  PASS_TOKEN_EXPIRED: 'It was solved too long ago. Solve a new challenge.',
  LOT_NUMBER_MISMATCH: 'The values are not those of one challenge. Solve a new one.',
  ILLEGAL_SIGN_TOKEN: 'The key that is configured for this captcha is wrong. Tell the platform team.',
  OTHER: 'Solve a new challenge.',
};

function captchaStep({ data, error }: Checkout['verified']): HTMLElement {
  const verdict = data?.validateCaptcha;
  switch (verdict?.__typename) {
    case 'CaptchaPassed':
      return step(
        'Captcha: passed',
        proceeding(verdict.proceed),
        make(
          'p',
          '',
          `Kind: ${verdict.details.usedType ?? 'not known'}, scene: ${verdict.details.scene ?? 'not known'}.`,
        ),
      );
    case 'CaptchaFailed':
      return step(
        `Captcha: failed, ${verdict.category}`,
        proceeding(verdict.proceed),
        make('p', '', CATEGORIES[verdict.category]),
      );
    case 'CaptchaIndeterminate':
      return step(`Captcha: no verdict, ${verdict.cause}`, proceeding(verdict.proceed), make('p', '', verdict.message));
    default:
      return step('Captcha: could not be asked about', proceeding(false), failureView(error));
  }
}

function orderStep(placed: Checkout['placed']): HTMLElement {
  if (!placed) return step('Order: not sent', make('p', '', 'The captcha does not let it proceed.'));
  const order = placed.data?.placeOrder;
  if (!order) return step('Order: not confirmed', failureView(placed.error));
  return step(`Order: ${order.status}`, make('p', '', `${order.id}: ${order.item}, for ${order.customer.name}.`));
}

function step(title: string, ...content: readonly Node[]): HTMLElement {
  return make('li', '', make('h3', '', title), ...content);
}

function proceeding(proceed: boolean): HTMLElement {
  return make('p', '', make('span', proceed ? 'badge go' : 'badge stop', proceed ? 'proceeds' : 'does not proceed'));
}
