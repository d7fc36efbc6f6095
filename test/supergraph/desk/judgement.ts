import { make } from '../shop/dom.ts';
import type { ClientType, JudgementFragment } from './generated/graphql.ts';
import { signalsView } from './signals.ts';
import { factsView, heading, time, verdictBadge } from './views.ts';
import { VERDICTS, words } from './words.ts';

/** One judgement: what was decided by which rule, what was found, and about which device. */
export function judgementView(judgement: JudgementFragment): HTMLElement {
  const { decision, signals } = judgement;
  return make(
    'div',
    'judgement',
    ...(decision
      ? [
          make('p', 'decided', verdictBadge(decision.action), ' by the rule ', make('code', '', decision.rule)),
          make('p', 'quiet', VERDICTS[decision.action].sentence, ' ', ruleSentence(decision.rule)),
        ]
      : [make('p', 'quiet', 'The decision is not shown to you.')]),
    heading(4, signals ? `Signals: ${signals.length}` : 'Signals'),
    signals ? signalsView(signals) : make('p', 'quiet', 'The signals are not shown to you.'),
    heading(4, 'Device and event'),
    factsView(factsOf(judgement)),
  );
}

function ruleSentence(rule: string): string {
  return rule === 'otherwise' ? 'No rule of the policy matched.' : 'It is the first rule of the policy that matched.';
}

const CLIENTS: Readonly<Record<ClientType, string>> = { ANDROID: 'Android app', IOS: 'iOS app', WEB_H5: 'Web page' };
const WITHHELD = 'not shown to you';

function factsOf(judgement: JudgementFragment): (readonly [string, Node | string])[] {
  const { clientType, device, ipInfo, judgedAt, eventType, eventId, requestId, decision } = judgement;
  return [
    ['Client', CLIENTS[clientType]],
    ...machineOf(judgement),
    ['IP address', ipInfo?.ip ?? WITHHELD],
    ['Judged at', time(judgedAt, 'long')],
    ['Event', eventType ?? 'not named'],
    ['Policy', decision?.policy ?? WITHHELD],
    ['Device id', make('code', '', device?.id ?? WITHHELD)],
    ['Event id', make('code', '', eventId)],
    ['Request id', make('code', '', requestId)],
  ];
}

function machineOf({ deviceBasic }: JudgementFragment): (readonly [string, string])[] {
  const system = ['System', words(deviceBasic.os.name, deviceBasic.os.version)] as const;
  if (deviceBasic.__typename === 'Mobile') {
    return [['Model', words(deviceBasic.model, deviceBasic.architecture)], system];
  }
  const { browser, device } = deviceBasic;
  return [['Browser', words(browser.name, browser.version)], ['Machine', words(device.vendor, device.model)], system];
}
