import { make } from '../shop/dom.ts';
import type { CheckoutQuery, DeviceClientType, DeviceSignalEffect, JudgementFragment } from './generated/graphql.ts';
import { troubleView } from './trouble.ts';
import { captchaOf, decisionView, known, OUTCOMES, reasonOf, timeView } from './words.ts';

type Fact = readonly [name: string, value: Node | string];

/**
 * One checkout, with what was judged then.
 *
 * @param code why the judgement could not be opened, if it could not
 */
export function detailView(checkout: NonNullable<CheckoutQuery['checkout']>, code: string | undefined): Node[] {
  const { judgement, startedAt, id, order, decision } = checkout;
  const rule = judgement?.decision;
  const isReadable = judgement !== null || decision === 'NOT_JUDGED';
  return [
    facts(
      ['Outcome', OUTCOMES[checkout.status]],
      ['Order', order ? make('code', '', order.id) : 'none'],
      ['Decision', decisionView(checkout)],
      ['Rule', rule ? make('code', '', rule.rule) : 'none'],
      ['Policy', rule ? make('code', '', rule.policy) : 'none'],
      ['Captcha', captchaOf(checkout)],
      ['Started at', timeView(startedAt, 'long')],
      ['Checkout', make('code', '', id)],
    ),
    ...(judgement ? judgementView(judgement) : []),
    ...(decision === 'NOT_JUDGED' ? [make('p', '', reasonOf(checkout))] : []),
    ...(isReadable ? [] : [troubleView(code ?? 'NO_CODE')]),
  ];
}

const CLIENTS: Readonly<Record<DeviceClientType, string>> = {
  ANDROID: 'Android app',
  IOS: 'iOS app',
  WEB_H5: 'Web page',
};
const WITHHELD = 'not shown to you';

function judgementView(judgement: JudgementFragment): Node[] {
  const { signals, clientType, ipInfo, judgedAt, eventType, device, eventId, requestId } = judgement;
  return [
    make('h3', '', `Signals: ${signals?.length ?? WITHHELD}`),
    make('ul', '', ...(signals ?? []).map(signalView)),
    make('h3', '', 'Device and event'),
    facts(
      ['Client', CLIENTS[clientType]],
      ...machineOf(judgement),
      ['IP address', ipInfo?.ip ?? WITHHELD],
      ['Judged at', timeView(judgedAt, 'long')],
      ['Event', eventType ?? 'not named'],
      ['Device id', make('code', '', device?.id ?? WITHHELD)],
      ['Event id', make('code', '', eventId)],
      ['Request id', make('code', '', requestId)],
    ),
  ];
}

function machineOf({ deviceBasic }: JudgementFragment): Fact[] {
  const system = ['System', known(deviceBasic.os.name, deviceBasic.os.version)] as const;
  if (deviceBasic.__typename === 'Mobile') {
    return [['Model', known(deviceBasic.model, deviceBasic.architecture)], system];
  }
  const { browser, device } = deviceBasic;
  return [['Browser', known(browser.name, browser.version)], ['Machine', known(device.vendor, device.model)], system];
}

const EFFECTS: Readonly<Record<DeviceSignalEffect, string>> = {
  RISK: 'counts towards risk',
  // The service calls its blacklists WHITELIST_ and its whitelists BLACKLIST_.
  DENY: 'on your blacklist, in spite of the name: refuse',
  ALLOW: 'on your whitelist, in spite of the name: let through',
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
