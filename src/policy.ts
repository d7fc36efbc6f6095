import { readFileSync } from 'node:fs';
import {
  counts,
  DEFAULT_POLICY,
  decide,
  matches,
  type PolicyInput,
  type PolicySignal,
  type RiskPolicy,
  type Rule,
} from './fingerprint/policy.ts';
import { loadPolicy, PolicyError } from './fingerprint/policy-file.ts';
import { SIGNAL_CATALOGUE } from './fingerprint/signals.ts';

/** Tries a risk policy before it is used: `npm run policy -- FILE`, or without a file the built-in one. */

type Question = Pick<PolicyInput, 'clientType' | 'eventType'>;

const SIGNALS: readonly PolicySignal[] = [
  ...SIGNAL_CATALOGUE.map((row) => ({ ...row, name: row.code })),
  ...(['LOW', 'MEDIUM', 'HIGH'] as const).map((level) => ({
    ...{ name: `(not documented, ${level})`, code: null, effect: null },
    ...{ level, confidence: 1 },
  })),
];

const [path] = process.argv.slice(2);
process.stdout.write(path === undefined ? report(DEFAULT_POLICY, 'built in') : report(read(path), path));

function read(path: string): RiskPolicy {
  try {
    return loadPolicy(path, (file) => readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const lines = error.problems.map((problem) => `  ${problem}\n`);
    process.stderr.write(`${path} is no policy that can be used:\n${lines.join('')}`);
    process.exit(1);
  }
}

function report(policy: RiskPolicy, source: string): string {
  const { id, rules, otherwise } = policy;
  const tried = rules.map((rule) => tryOut(policy, rule));
  const idle = tried.flatMap(({ reason }) => reason ?? []);
  return [
    `Policy ${id}, ${source}: ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}, otherwise ${otherwise.action}.`,
    '',
    'What it decides about a device with one signal:',
    '',
    ...table([
      ['signal', 'level', 'confidence', 'effect', 'action', 'rule', 'also counted by', 'for'],
      ...signalRows(policy),
    ]),
    '',
    'Tried as well: each two of these signals, and as many as a rule asks for. The first of all that each rule acts on:',
    '',
    ...table([['rule', 'action', 'signals', 'for'], ...tried.flatMap(({ example }) => (example ? [example] : []))]),
    '',
    ...(idle.length === 0
      ? ['Every rule acts on something that was tried.']
      : ['These rules act on nothing that was tried:', ...idle]),
    '',
  ].join('\n');
}

/** The client types, each with every event type that the policy names, and with none for all others. */
function questionsOf({ rules }: RiskPolicy): Question[] {
  const eventTypes = [...new Set(rules.flatMap(({ when }) => when.eventType ?? [])), undefined];
  const clientTypes = ['ANDROID', 'IOS', 'WEB_H5'] as const;
  return clientTypes.flatMap((clientType) => eventTypes.map((eventType) => ({ clientType, eventType })));
}

function nameOf({ clientType, eventType }: Question): string {
  return `${clientType} ${eventType ?? 'other'}`;
}

function signalRows(policy: RiskPolicy): string[][] {
  const rows = SIGNALS.flatMap((signal) => {
    const cells = [signal.name, signal.level, String(signal.confidence), signal.effect ?? ''];
    return decisionsAbout(policy, [signal]).map((decided) => [...cells, ...decided]);
  });
  return [...decisionsAbout(policy, []).map((decided) => ['(none)', '', '', '', ...decided]), ...rows];
}

/** Each different decision about these signals, with the questions for which it is made. */
function decisionsAbout(policy: RiskPolicy, signals: readonly PolicySignal[]): string[][] {
  const byDecision = new Map<string, { readonly cells: string[]; readonly questions: string[] }>();
  for (const question of questionsOf(policy)) {
    const shadows: string[] = [];
    const { action, rule } = decide(policy, { ...question, signals }, (shadow) =>
      shadows.push(`${shadow.rule} (${shadow.action})`),
    );
    const cells = [action, rule, shadows.join(', ')];
    const known = byDecision.get(cells.join()) ?? { cells, questions: [] };
    known.questions.push(nameOf(question));
    byDecision.set(cells.join(), known);
  }
  const isAlways = byDecision.size === 1;
  return [...byDecision.values()].map(({ cells, questions }) => [...cells, isAlways ? 'all' : questions.join(', ')]);
}

/** The first input on which a rule acts, as cells of a table, or a sentence that says why it acts on none that was tried. */
function tryOut(policy: RiskPolicy, rule: Rule): { readonly example?: string[]; readonly reason?: string } {
  const { rule: id, action } = rule.decision;
  const deciding = new Set<string>();
  for (const input of inputsFor(policy)) {
    if (!matches(rule, input)) continue;
    const acting: unknown[] = [];
    const decision = decide(policy, input, (shadow) => acting.push(shadow));
    if (decision === rule.decision || acting.includes(rule.decision)) {
      const names = input.signals.map(({ name }) => name).join(' + ') || '(none)';
      return { example: [id, rule.isShadow ? `${action} (shadow)` : action, names, nameOf(input)] };
    }
    deciding.add(decision.rule);
  }
  if (deciding.size === 0) return { reason: `  ${id}: it matches nothing.` };
  return { reason: `  ${id}: whatever it matches is decided before by ${[...deciding].join(', ')}.` };
}

function* inputsFor(policy: RiskPolicy): Generator<PolicyInput> {
  const questions = questionsOf(policy);
  for (const signals of combinationsFor(policy)) {
    for (const question of questions) yield { ...question, signals };
  }
}

/** No signal, each alone, each two, and for a rule that needs more so many of those that it counts. */
function combinationsFor({ rules }: RiskPolicy): (readonly PolicySignal[])[] {
  const pairs = SIGNALS.flatMap((one, at) => SIGNALS.slice(at + 1).map((other) => [one, other]));
  const larger = rules.flatMap((rule, at) => {
    if (rule.needs <= 2) return [];
    const own = SIGNALS.filter(
      (signal) => counts(rule.when, signal) && !rule.when.noneOf?.some((code) => code === signal.code),
    );
    // Those about which an earlier rule decides alone come last, so that some combinations are without them.
    const deciding = rules.slice(0, at).filter(({ isShadow, needs }) => !isShadow && needs === 1);
    const isDecided = (signal: PolicySignal) => deciding.some((earlier) => counts(earlier.when, signal));
    const ordered = [...own.filter((signal) => !isDecided(signal)), ...own.filter(isDecided)];
    return ordered.map((_, first) => [...ordered, ...ordered].slice(first, first + rule.needs));
  });
  return [[], ...SIGNALS.map((signal) => [signal]), ...pairs, ...larger];
}

/** Lines whose cells stand below each other. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_cell, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
