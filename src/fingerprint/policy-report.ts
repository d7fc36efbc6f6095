import { CLIENT_TYPES } from './contract.ts';
import { counts, decide, matches, type PolicyInput, type PolicySignal, type RiskPolicy, type Rule } from './policy.ts';
import { LEVELS, SIGNAL_CATALOGUE } from './signal-catalogue.ts';

/** A risk policy and its decisions, as lines for an analyst. */

export const CLIENTS = Object.values(CLIENT_TYPES);

/** The circumstances in which signals are judged. */
type Asked = Pick<PolicyInput, 'clientType' | 'eventType'>;
type Decision = Rule['decision'];

/** A device to decide about, and the words for it. Without a client it is each in turn. */
export interface Question {
  readonly name: string;
  readonly signals: readonly PolicySignal[];
  readonly clientType: PolicyInput['clientType'] | undefined;
  readonly eventType: string | undefined;
}

const NEWER = { code: null, confidence: 1, effect: null };
const SIGNALS: readonly PolicySignal[] = [
  ...SIGNAL_CATALOGUE.map((row) => ({ ...row, name: row.code })),
  ...LEVELS.map((level) => ({ ...NEWER, name: `(not documented, ${level})`, level })),
];

/** The rules in their order with their conditions, and in the first line the flaws that `bySignal` found. */
export function describe({ id, rules, otherwise }: RiskPolicy, source: string, flaws: readonly string[]): string[] {
  const lines = rules.map(({ when, decision, isShadow }) => {
    const conditions = Object.entries(when).map(([key, value]) => `${key} ${[value].flat().join(', ')}`);
    return [decision.rule, `${decision.action}${isShadow ? ' (shadow)' : ''}`, conditions.join('; ')];
  });
  const count = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
  const head = [`Policy ${id}, ${source}: ${count}, otherwise ${otherwise.action}.`, ...flaws].join(' ');
  return [head, 'The first rule that matches decides:', '', ...table([['rule', 'action', 'when'], ...lines])];
}

/** The decisions about no signal, about each alone, and about as many as a rule needs; `flaws` are signs of a mistake. */
export function bySignal(policy: RiskPolicy): { readonly lines: string[]; readonly flaws: string[] } {
  const tried = combinationsFor(policy).map((signals) => ({ signals, outcomes: outcomesOf(policy, signals) }));
  const acted = new Set<string>();
  const rows = tried.flatMap(({ signals, outcomes }) =>
    outcomes.flatMap((cells) => {
      const [, rule = '', shadows = ''] = cells;
      const acting = [rule, ...(shadows.match(/[\w-]+(?= \()/g) ?? [])];
      const isFirst = acting.some((one) => !acted.has(one));
      for (const one of acting) acted.add(one);
      return isFirst || signals.length < 2 ? [[nameOf(signals), ...rowOf(signals), ...cells]] : [];
    }),
  );
  const idle = policy.rules.filter(({ decision }) => !acted.has(decision.rule));
  const actions = new Set(tried.flatMap(({ outcomes }) => outcomes.map(([action]) => action)));
  const flaws = [
    ...(actions.size === 1 ? [`Every device that was tried gets ${[...actions]}.`] : []),
    ...(idle.length > 0 ? [`Rules that never act: ${idle.map(({ decision }) => decision.rule).join(', ')}.`] : []),
  ];
  const head = ['signals', 'level', 'confidence', 'effect', 'action', 'rule', 'would act (shadow)', 'for'];
  const lines = [
    'Decisions about a device with no signal, with one, and with several if a rule acts on them for the first time:',
    '',
    ...table([head, ...rows]),
    '',
    idle.length === 0 ? 'Every rule acted.' : 'Rules that never acted:',
    ...idle.map((rule) => `  ${rule.decision.rule}: ${whyIdle(policy, rule)}`),
  ];
  return { lines, flaws };
}

/** Which rule acts on a device, and why each one before it does not. */
export function explain(policy: RiskPolicy, question: Question): string[] {
  const clients = question.clientType ? [question.clientType] : CLIENTS;
  const answers = clients.map((clientType) => {
    const input = { ...question, clientType };
    const { action, rule } = decide(policy, input);
    const at = policy.rules.findIndex(({ decision }) => decision.rule === rule);
    const before = policy.rules.slice(0, at < 0 ? policy.rules.length : at).map((one) => {
      const why = matches(one, input) ? 'matches, and is only counted (shadow)' : whyNot(one, input);
      return `  ${one.decision.rule}: ${why}`;
    });
    return [`${action} by ${rule}. Before it:`, ...(before.length > 0 ? before : ['  no rule'])].join('\n');
  });
  if (new Set(answers).size === 1) return [`${question.name}: ${answers[0]}`];
  return answers.map((one, at) => `${question.name} ${clients[at]}: ${one}`);
}

/** The conditions of a rule that do not hold. */
function whyNot({ when, needs }: Rule, { clientType, eventType, signals }: PolicyInput): string {
  const reasons: string[] = [];
  if (when.clientType && !when.clientType.includes(clientType)) reasons.push(`clientType is ${clientType}`);
  if (when.eventType && !(eventType !== undefined && when.eventType.includes(eventType)))
    reasons.push(`eventType is ${eventType ?? 'not given'}`);
  const excluded = signals.filter(({ code }) => when.noneOf?.some((one) => one === code));
  if (excluded.length > 0) reasons.push(`noneOf: it has ${nameOf(excluded)}`);
  const counted = signals.filter((signal) => counts(when, signal));
  if (new Set(counted.map(({ name }) => name)).size < needs) {
    const failed = (['anyOf', 'effect', 'minLevel', 'minConfidence'] as const).flatMap((key) => {
      const leftOut = signals.filter((signal) => when[key] !== undefined && !counts({ [key]: when[key] }, signal));
      return leftOut.length > 0 ? `${key} leaves out ${leftOut.map(({ name }) => name).join(', ')}` : [];
    });
    reasons.push([`${counted.length} of ${needs} signals count`, failed.join(', ')].filter(Boolean).join(': '));
  }
  return reasons.join('; ');
}

/** The decision about each device of a list. */
export function summaryTable(policy: RiskPolicy, questions: readonly Question[]): string[] {
  const rows = questions.flatMap(({ name, signals, clientType: client, eventType }) => {
    const asked = (client ? [client] : CLIENTS).map((clientType) => ({ clientType, eventType }));
    return outcomesOf(policy, signals, asked).map((cells) => [name, ...cells]);
  });
  return table([['device', 'action', 'rule', 'would act (shadow)', 'for'], ...rows]);
}

/** The combinations about which two policies decide differently. */
export function differences(policy: RiskPolicy, other: RiskPolicy, path: string): string[] {
  const asked = questionsOf([...policy.rules, ...other.rules]);
  const tried = [...combinationsFor(policy), ...combinationsFor(other)].map((all) => [nameOf(all), all] as const);
  const rows = [...new Map(tried)].flatMap(([name, signals]) => {
    const both = byAnswer(asked, (question) =>
      [policy, other].map((one) => {
        const { action, rule } = decide(one, { ...question, signals });
        return `${action} ${rule}`;
      }),
    );
    return both.flatMap(([now = '', then = '', by = '']) => (now === then ? [] : [[name, now, then, by]]));
  });
  if (rows.length === 0) return [`${path} decides the same about everything that was tried.`];
  const head = `Policy ${policy.id} and ${other.id}, ${path}:`;
  return [head, '', ...table([['signals', 'now', 'then', 'for'], ...rows])];
}

/** Which rules decide where the conditions of a rule hold that never acts, if they ever do. */
function whyIdle(policy: RiskPolicy, rule: Rule): string {
  const inputs = combinationsFor(policy).flatMap((signals) =>
    questionsOf(policy.rules).map((question) => ({ ...question, signals })),
  );
  const names = new Set(inputs.flatMap((input) => (matches(rule, input) ? decide(policy, input).rule : [])));
  return names.size === 0 ? 'its conditions never hold' : `an earlier rule always decides: ${[...names].join(', ')}`;
}

/** No signal, each alone, and for a rule that needs several, as many of those that it counts. */
function combinationsFor({ rules }: RiskPolicy): (readonly PolicySignal[])[] {
  const larger = rules.flatMap(({ when, needs }, at) => {
    if (needs < 2) return [];
    const own = SIGNALS.filter((signal) => counts(when, signal) && !when.noneOf?.some((code) => code === signal.code));
    // Those about which an earlier rule decides alone come last, so that some combinations are without them.
    const previous = rules.slice(0, at).filter((earlier) => !earlier.isShadow && earlier.needs === 1);
    const isDecided = (signal: PolicySignal) => previous.some((earlier) => counts(earlier.when, signal));
    const ordered = [...own.filter((signal) => !isDecided(signal)), ...own.filter(isDecided)];
    return ordered.map((_, first) => [...ordered, ...ordered].slice(first, first + needs));
  });
  return [[], ...SIGNALS.map((signal) => [signal]), ...larger];
}

/** Each client type with every event type that the rules name, and with none for all others. */
function questionsOf(rules: readonly Rule[]): Asked[] {
  const eventTypes = [...new Set(rules.flatMap(({ when }) => when.eventType ?? [])), undefined];
  return CLIENTS.flatMap((clientType) => eventTypes.map((eventType) => ({ clientType, eventType })));
}

/** Each different decision about these signals: action, rule, shadow rules, and the questions for which it is made. */
function outcomesOf(policy: RiskPolicy, signals: readonly PolicySignal[], questions = questionsOf(policy.rules)) {
  return byAnswer(questions, (question) => {
    const shadows: string[] = [];
    const onShadow = (shadow: Decision) => void shadows.push(`${shadow.rule} (${shadow.action})`);
    const { action, rule } = decide(policy, { ...question, signals }, onShadow);
    return [action, rule, shadows.join(', ')];
  });
}

/** Each different answer to these questions, with the questions behind it. */
function byAnswer(questions: ReturnType<typeof questionsOf>, answerTo: (question: Asked) => string[]): string[][] {
  const askedBy = new Map<string, string[]>();
  for (const question of questions) {
    const key = answerTo(question).join('\n');
    const name = `${question.clientType} ${question.eventType ?? 'other'}`;
    askedBy.set(key, [...(askedBy.get(key) ?? []), name]);
  }
  return [...askedBy].map(([key, by]) => [...key.split('\n'), askedBy.size === 1 ? 'all' : by.join(', ')]);
}

const nameOf = (signals: readonly PolicySignal[]) => signals.map(({ name }) => name).join(' + ') || '(none)';

/** The catalogue's row of a signal that is alone. */
function rowOf([first, ...others]: readonly PolicySignal[]): string[] {
  return first && others.length === 0 ? [first.level, String(first.confidence), first.effect ?? ''] : ['', '', ''];
}

/** Lines whose cells stand below each other. */
function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (row: readonly string[]) => widths.map((width, column) => (row[column] ?? '').padEnd(width));
  return rows.map((row) => padded(row).join('  ').trimEnd());
}
