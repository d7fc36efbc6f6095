import { CLIENT_TYPES } from './contract.ts';
import { counts, decide, matches, type PolicyInput, type PolicySignal, type RiskPolicy, type Rule } from './policy.ts';
import { LEVELS, SIGNAL_CATALOGUE } from './signal-catalogue.ts';

/** A risk policy and its decisions, as lines for an analyst. */

export const CLIENTS = Object.values(CLIENT_TYPES);

/** A combination of client type and event type. */
type Case = Pick<PolicyInput, 'clientType' | 'eventType'>;
type Decision = Rule['decision'];

/** A device with its name in the report. Without a client type it is tried with each. */
export interface Device {
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
export function explain(policy: RiskPolicy, device: Device): string[] {
  const clients = device.clientType ? [device.clientType] : CLIENTS;
  const answers = clients.map((clientType) => {
    const input = { ...device, clientType };
    const { action, rule } = decide(policy, input);
    const at = policy.rules.findIndex(({ decision }) => decision.rule === rule);
    const before = policy.rules.slice(0, at < 0 ? policy.rules.length : at).map((one) => {
      const why = matches(one, input) ? 'matches, and is only counted (shadow)' : whyNot(one, input);
      return `  ${one.decision.rule}: ${why}`;
    });
    return [`${action} by ${rule}. Before it:`, ...(before.length > 0 ? before : ['  no rule'])].join('\n');
  });
  if (new Set(answers).size === 1) return [`${device.name}: ${answers[0]}`];
  return answers.map((one, at) => `${device.name} ${clients[at]}: ${one}`);
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
export function summaryTable(policy: RiskPolicy, devices: readonly Device[]): string[] {
  const rows = devices.flatMap(({ name, signals, clientType: client, eventType }) => {
    const cases = (client ? [client] : CLIENTS).map((clientType) => ({ clientType, eventType }));
    return outcomesOf(policy, signals, cases).map((cells) => [name, ...cells]);
  });
  return table([['device', 'action', 'rule', 'would act (shadow)', 'for'], ...rows]);
}

/** The combinations about which two policies decide differently. */
export function differences(policy: RiskPolicy, other: RiskPolicy, path: string): string[] {
  const cases = casesOf([...policy.rules, ...other.rules]);
  const tried = [...combinationsFor(policy), ...combinationsFor(other)].map((all) => [nameOf(all), all] as const);
  const rows = [...new Map(tried)].flatMap(([name, signals]) => {
    const both = byDecision(cases, (one) =>
      [policy, other].map((each) => {
        const { action, rule } = decide(each, { ...one, signals });
        return `${action} ${rule}`;
      }),
    );
    return both.flatMap(([now = '', then = '', by = '']) => (now === then ? [] : [[name, now, then, by]]));
  });
  if (rows.length === 0) return [`${path} decides the same about everything that was tried.`];
  const head = `Policy ${policy.id} and ${other.id}, ${path}:`;
  return [head, '', ...table([['signals', 'now', 'then', 'for'], ...rows])];
}

/** Why a rule never acts: its conditions never hold, or earlier rules decide where they do. */
function whyIdle(policy: RiskPolicy, rule: Rule): string {
  const inputs = combinationsFor(policy).flatMap((signals) =>
    casesOf(policy.rules).map((one) => ({ ...one, signals })),
  );
  const names = new Set(inputs.flatMap((input) => (matches(rule, input) ? decide(policy, input).rule : [])));
  return names.size === 0 ? 'its conditions never hold' : `an earlier rule always decides: ${[...names].join(', ')}`;
}

/** No signal, each alone, and for a rule that needs several, as many of those that it counts. */
function combinationsFor({ rules }: RiskPolicy): (readonly PolicySignal[])[] {
  const larger = rules.flatMap(({ when, needs }, at) => {
    if (needs < 2) return [];
    const own = SIGNALS.filter((signal) => counts(when, signal) && !when.noneOf?.some((code) => code === signal.code));
    // Signals on which an earlier rule decides alone come last, so that some combinations lack them.
    const previous = rules.slice(0, at).filter((earlier) => !earlier.isShadow && earlier.needs === 1);
    const isDecided = (signal: PolicySignal) => previous.some((earlier) => counts(earlier.when, signal));
    const ordered = [...own.filter((signal) => !isDecided(signal)), ...own.filter(isDecided)];
    return ordered.map((_, first) => [...ordered, ...ordered].slice(first, first + needs));
  });
  return [[], ...SIGNALS.map((signal) => [signal]), ...larger];
}

/** Each client type with every event type that the rules name, and with none for all others. */
function casesOf(rules: readonly Rule[]): Case[] {
  const eventTypes = [...new Set(rules.flatMap(({ when }) => when.eventType ?? [])), undefined];
  return CLIENTS.flatMap((clientType) => eventTypes.map((eventType) => ({ clientType, eventType })));
}

/** Each different decision about these signals: action, rule, shadow rules, and the cases in which it is made. */
function outcomesOf(policy: RiskPolicy, signals: readonly PolicySignal[], cases = casesOf(policy.rules)) {
  return byDecision(cases, (one) => {
    const shadows: string[] = [];
    const onShadow = (shadow: Decision) => void shadows.push(`${shadow.rule} (${shadow.action})`);
    const { action, rule } = decide(policy, { ...one, signals }, onShadow);
    return [action, rule, shadows.join(', ')];
  });
}

/** Each different decision, as cells, with the cases in which it is made. */
function byDecision(cases: readonly Case[], decisionIn: (one: Case) => string[]): string[][] {
  const namesOf = new Map<string, string[]>();
  for (const one of cases) {
    const key = decisionIn(one).join('\n');
    namesOf.set(key, [...(namesOf.get(key) ?? []), `${one.clientType} ${one.eventType ?? 'other'}`]);
  }
  return [...namesOf].map(([key, names]) => [...key.split('\n'), namesOf.size === 1 ? 'all' : names.join(', ')]);
}

const nameOf = (signals: readonly PolicySignal[]) => signals.map(({ name }) => name).join(' + ') || '(none)';

/** The catalogue's row of a single signal. */
function rowOf([first, ...others]: readonly PolicySignal[]): string[] {
  return first && others.length === 0 ? [first.level, String(first.confidence), first.effect ?? ''] : ['', '', ''];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (row: readonly string[]) => widths.map((width, column) => (row[column] ?? '').padEnd(width));
  return rows.map((row) => padded(row).join('  ').trimEnd());
}
