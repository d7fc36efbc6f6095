import { make } from './dom.ts';
import type { JudgementFragment, SignalEffect, SignalLevel } from './generated/graphql.ts';

type Signal = NonNullable<JudgementFragment['signals']>[number];

/** The signals as a table, the most serious and then the surest first. */
export function signalsView(signals: readonly Signal[]): HTMLElement {
  if (signals.length === 0) return make('p', '', 'No signal was hit.');
  const heads = ['Signal', 'Level', 'Effect', 'Confidence', 'What it means'].map((name) => {
    const head = make('th', '', name);
    head.scope = 'col';
    return head;
  });
  const rows = [...signals].sort(bySeriousness).map(signalRow);
  const caption = make('caption', '', 'Signals, the most serious first');
  const table = make('table', '', caption, make('thead', '', make('tr', '', ...heads)), make('tbody', '', ...rows));
  return make('div', 'wide', table);
}

const RANKS: Readonly<Record<SignalLevel, number>> = { HIGH: 3, MEDIUM: 2, LOW: 1 };

function bySeriousness(one: Signal, other: Signal): number {
  return RANKS[other.level] - RANKS[one.level] || other.confidence - one.confidence;
}

// By the effect and never by the name: the service's lists are called the opposite of what they do.
const EFFECTS: Readonly<Record<SignalEffect, string>> = {
  RISK: 'counts towards risk',
  DENY: 'refuse',
  ALLOW: 'let through',
};

function signalRow({ name, code, level, confidence, effect, meaning }: Signal): HTMLElement {
  const head = make('th', '', name);
  head.scope = 'row';
  const known = code !== null && effect !== null;
  return make(
    'tr',
    '',
    head,
    make('td', '', make('span', `badge level-${level}`, level)),
    known
      ? make('td', '', make('span', `badge effect-${effect}`, effect), make('small', '', EFFECTS[effect]))
      : make('td', '', make('span', 'badge unknown', 'UNKNOWN'), make('small', '', 'no code yet')),
    make('td', '', confidenceMeter(confidence), ` ${Math.round(confidence * 100)} %`),
    make('td', '', known ? meaning : 'Newer than what this graph knows about signals.'),
  );
}

function confidenceMeter(confidence: number): HTMLElement {
  const meter = make('meter', '');
  meter.value = confidence; // from 0 to 1, as the meter's own scale
  meter.ariaLabel = 'Confidence';
  return meter;
}
