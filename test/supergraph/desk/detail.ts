import { make } from '../shop/dom.ts';
import type {
  CheckoutQuery,
  DeviceClientType,
  DeviceSignalEffect,
  JudgementFragment,
  SummaryFragment,
} from './generated/graphql.ts';
import { troubleView } from './trouble.ts';
import { captchaOf, customerOf, decisionView, known, OUTCOMES, REFUSALS, reasonOf, timeView } from './words.ts';

type Fact = readonly [name: string, value: Node | string];

/**
 * One checkout, with what was judged then.
 *
 * @param code why the judgement could not be opened, if it could not
 */
export function detailView(checkout: NonNullable<CheckoutQuery['checkout']>, code: string | undefined): Node[] {
  const { judgement, startedAt, id, order, decision, refusal } = checkout;
  const rule = judgement?.decision;
  const isReadable = judgement !== null || decision === 'NOT_JUDGED';
  return [
    facts(
      ['Outcome', OUTCOMES[checkout.status]],
      ...(refusal ? [['Refused because', REFUSALS[refusal]] as const] : []),
      ['Order', order ? make('code', '', order.id) : 'none'],
      ['Decision', decisionView(checkout)],
      ['Rule', rule ? make('code', '', rule.rule) : 'none'],
      ['Policy', rule ? make('code', '', rule.policy) : 'none'],
      ['Captcha', captchaOf(checkout)],
      ['Started at', timeView(startedAt, 'long')],
      ['Checkout', make('code', '', id)],
    ),
    ...(judgement ? judgementView(judgement, id) : []),
    ...(decision === 'NOT_JUDGED' ? [make('p', '', `${reasonOf(checkout)} No device is known.`)] : []),
    ...(isReadable ? [] : [troubleView(code ?? 'NO_CODE')]),
  ];
}

function orderView(checkout: SummaryFragment): HTMLElement {
  const link = make('a', '', timeView(checkout.startedAt, 'short'));
  link.href = `#${checkout.id}`;
  const captcha = `, captcha ${captchaOf(checkout)}`;
  return make('li', '', link, ` ${checkout.item} for ${customerOf(checkout)}: `, decisionView(checkout), captcha);
}

const CLIENTS: Readonly<Record<DeviceClientType, string>> = {
  ANDROID: 'Android app',
  IOS: 'iOS app',
  WEB_H5: 'Web page',
  OTHER: 'Newer than what this graph knows about clients',
};
const WITHHELD = 'not shown to you';

function judgementView(judgement: JudgementFragment, checkoutId: string): Node[] {
  const orders = judgement.device?.orders.flatMap(({ checkout }) => checkout ?? []) ?? [];
  const others = orders.filter(({ id }) => id !== checkoutId);
  const { signals, clientType, ipInfo, judgedAt, eventType, device, eventId, requestId } = judgement;
  return [
    make('p', '', 'As judged at ', timeView(judgedAt, 'long'), '.'),
    make('h3', '', `Signals: ${signals?.length ?? WITHHELD}`),
    make('ul', '', ...(signals ?? []).map(signalView)),
    make('h3', '', 'Device and event'),
    facts(
      ['Client', CLIENTS[clientType]],
      ...machineOf(judgement),
      ['IP address', ipInfo?.ip ?? WITHHELD],
      ['Event', eventType ?? 'not named'],
      ['Device id', make('code', '', device?.id ?? WITHHELD)],
      ['Event id', make('code', '', eventId)],
      ['Request id', make('code', '', requestId)],
    ),
    make('h3', '', `Other orders placed from this device: ${others.length}`),
    make('ul', '', ...others.map(orderView)),
  ];
}

function machineOf({ deviceBasic }: JudgementFragment): Fact[] {
  if (!deviceBasic) return [];
  const system = ['System', known(deviceBasic.os.name, deviceBasic.os.version)] as const;
  if (deviceBasic.__typename === 'Mobile') {
    return [['Model', known(deviceBasic.model, deviceBasic.architecture)], system];
  }
  const { browser, device } = deviceBasic;
  return [['Browser', known(browser.name, browser.version)], ['Machine', known(device.vendor, device.model)], system];
}

const EFFECTS: Readonly<Record<DeviceSignalEffect, string>> = {
  RISK: 'counts towards risk',
  DENY: 'refuse',
  ALLOW: 'let through',
};

function signalView(signal: NonNullable<JudgementFragment['signals']>[number]): HTMLElement {
  const { name, level, confidence, effect, meaning } = signal;
  const effects = effect ? EFFECTS[effect] : 'nothing is known about its effect';
  return make(
    'li',
    '',
    make('b', '', make('code', '', name), ` ${level}`),
    `, confidence ${Math.round(confidence * 100)} %: ${effects}. `,
    meaning ?? 'Newer than what this graph knows about signals.',
  );
}

function facts(...pairs: readonly Fact[]): HTMLElement {
  return make('dl', '', ...pairs.map(([name, value]) => make('div', '', make('dt', '', name), make('dd', '', value))));
}
