import { make } from '../shop/dom.ts';
import type { JudgementFragment, SignalEffect, SignalLevel } from './generated/graphql.ts';
import { unseen } from './views.ts';

type Signal = NonNullable<JudgementFragment['signals']>[number];

/** The signals, the most serious and then the surest first. */
export function signalsView(signals: readonly Signal[]): HTMLElement {
  if (signals.length === 0) return make('p', 'quiet', 'No signal was hit.');
  const list = make('ol', 'signals', ...[...signals].sort(bySeverity).map(signalItem));
  return make('div', '', ...(signals.some(isMisnamed) ? [make('p', 'note', MISNAMED)] : []), list);
}

const MISNAMED =
  'The service calls its blacklists WHITELIST_ and its whitelists BLACKLIST_. Go by the effect, and not by the name.';

/** Is it one of the lists, whose names say the opposite of what they do? */
const isMisnamed = ({ effect }: Signal) => effect === 'DENY' || effect === 'ALLOW';

const RANKS: Readonly<Record<SignalLevel, number>> = { HIGH: 3, MEDIUM: 2, LOW: 1 };

function bySeverity(one: Signal, other: Signal): number {
  return RANKS[other.level] - RANKS[one.level] || other.confidence - one.confidence;
}

const EFFECTS: Readonly<Record<SignalEffect, string>> = {
  RISK: 'counts towards risk',
  DENY: 'on your blacklist: refuse',
  ALLOW: 'on your whitelist: let through',
};

function signalItem({ name, level, confidence, effect, meaning }: Signal): HTMLElement {
  const bars = make('span', `level level-${level}`);
  bars.ariaHidden = 'true';
  return make(
    'li',
    'signal',
    make('div', 'signal-name', make('strong', '', ...breakable(name))),
    make('div', 'signal-level', unseen('Level '), bars, level),
    make('div', 'signal-confidence', ...confidenceBar(confidence)),
    make('div', 'signal-effect', unseen('Effect '), make('b', '', effect ?? 'UNKNOWN'), ` ${effectOf(effect)}`),
    make('p', 'signal-meaning', meaning ?? 'Newer than what this graph knows about signals.'),
  );
}

/** The name, which may be broken after each `_`. */
function breakable(name: string): (Node | string)[] {
  return name.split(/(?<=_)/).flatMap((part, index) => (index === 0 ? [part] : [make('wbr', ''), part]));
}

function effectOf(effect: SignalEffect | null): string {
  return effect === null ? 'nothing is known about it' : EFFECTS[effect];
}

function confidenceBar(confidence: number): Node[] {
  const text = `${Math.round(confidence * 100)} %`;
  const meter = make('meter', '');
  meter.value = confidence; // from 0 to 1, as the meter's own scale
  meter.ariaLabel = `Confidence ${text}`;
  return [meter, make('span', 'number', text)];
}
