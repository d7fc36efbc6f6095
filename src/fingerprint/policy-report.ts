import { CLIENT_TYPES } from './contract.ts';
import { counts, decide, matches, type PolicyInput, type PolicySignal, type RiskPolicy, type Rule } from './policy.ts';
import { LEVELS, SIGNAL_CATALOGUE } from './signal-catalogue.ts';

export const CLIENTS = Object.values(CLIENT_TYPES);

type Case = Pick<PolicyInput, 'clientType' | 'eventType'>;

/** A device with its name in the report. Without a client type it is tried with each client type. */
export interface Device {
  readonly name: string;
  readonly signals: readonly PolicySignal[];
  readonly clientType: PolicyInput['clientType'] | undefined;
  readonly eventType: string | undefined;
}

const UNDOCUMENTED = { code: null, confidence: 1, effect: null };
const SIGNALS: readonly PolicySignal[] = [
  ...SIGNAL_CATALOGUE.map((row) => ({ ...row, name: row.code })),
  ...LEVELS.map((level) => ({ ...UNDOCUMENTED, name: `(not documented, ${level})`, level })),
];

/** The rules of a policy and its decisions. `flaws` are signs of a mistake. The first line names the source and all flaws. */
export function describe(policy: RiskPolicy, source: string): { readonly lines: string[]; readonly flaws: string[] } {
  const { id, rules, otherwise } = policy;
  const acted = new Set<string>();
  const actions = new Set<string>();
  const decisions = combinationsFor(policy).flatMap((signals) => {
    const { size } = acted;
    const outcomes = outcomesOf(casesOf(rules), (tried) => {
      const decision = cellsOf(policy, { ...tried, signals }, acted);
      actions.add(decision[0]);
      return decision;
    });
    return signals.length < 2 || acted.size > size ? outcomes.map((cells) => [nameOf(signals), ...cells]) : [];
  });
  const idle = rules.map(({ decision }) => decision.rule).filter((rule) => !acted.has(rule));
  const flaws = [
    ...(actions.size === 1 ? [`Every device that was tried gets ${[...actions]}.`] : []),
    ...(idle.length > 0 ? [`Rules that never act: ${idle.join(', ')}.`] : []),
  ];
  const count = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
  const conditions = rules.map(({ when, decision, isShadow }) => {
    const words = Object.entries(when).map(([key, value]) => `${key} ${[value].flat().join(', ')}`);
    return [decision.rule, `${decision.action}${isShadow ? ' (shadow)' : ''}`, words.join('; ')];
  });
  const lines = [
    [`Policy ${id}, ${source}: ${count}, otherwise ${otherwise.action}.`, ...flaws].join(' '),
    'The first rule that matches decides:',
    '',
    ...table([['rule', 'action', 'when'], ...conditions]),
    '',
    'Decisions about a device with no signal, with one, and with several if a rule acts on them for the first time:',
    '',
    ...table([['signals', ...DECISION], ...decisions]),
  ];
  return { lines, flaws };
}

/** The rule that acts on a device, and for each rule before it the reason why it does not act. */
export function explain(policy: RiskPolicy, device: Device): string[] {
  const clients = device.clientType ? [device.clientType] : CLIENTS;
  const answers = clients.map((clientType) => {
    const input = { ...device, clientType };
    const { action, rule } = decide(policy, input);
    const at = policy.rules.findIndex(({ decision }) => decision.rule === rule);
    const before = policy.rules.slice(0, at < 0 ? policy.rules.length : at).map((earlier) => {
      const why = matches(earlier, input) ? 'matches, and is only counted (shadow)' : whyNot(earlier, input);
      return `  ${earlier.decision.rule}: ${why}`;
    });
    return [`${action} by ${rule}. Before it:`, ...(before.length > 0 ? before : ['  no rule'])].join('\n');
  });
  if (new Set(answers).size === 1) return [`${device.name}: ${answers[0]}`];
  return answers.map((answer, at) => `${device.name} ${clients[at]}: ${answer}`);
}

function whyNot({ when, needs }: Rule, { clientType, eventType, signals }: PolicyInput): string {
  const reasons: string[] = [];
  if (when.clientType && !when.clientType.includes(clientType)) reasons.push(`clientType is ${clientType}`);
  if (when.eventType && !(eventType !== undefined && when.eventType.includes(eventType)))
    reasons.push(`eventType is ${eventType ?? 'not given'}`);
  const excluded = signals.filter(({ code }) => when.noneOf?.some((banned) => banned === code));
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
    return outcomesOf(cases, (tried) => cellsOf(policy, { ...tried, signals })).map((cells) => [name, ...cells]);
  });
  return table([['device', ...DECISION], ...rows]);
}

/** The combinations of signals about which two policies decide differently. */
export function differences(policy: RiskPolicy, other: RiskPolicy, path: string): string[] {
  const both = [policy, other];
  const cases = casesOf(both.flatMap(({ rules }) => rules));
  const tried = new Map(both.flatMap(combinationsFor).map((signals) => [nameOf(signals), signals]));
  const rows = [...tried].flatMap(([name, signals]) => {
    const outcomes = outcomesOf(cases, (tried) =>
      both.map((each) => {
        const { action, rule } = decide(each, { ...tried, signals });
        return `${action} ${rule}`;
      }),
    );
    return outcomes.filter(([now, then]) => now !== then).map((cells) => [name, ...cells]);
  });
  if (rows.length === 0) return [`${path} decides the same about everything that was tried.`];
  const head = `Policy ${policy.id} and ${other.id}, ${path}:`;
  return [head, '', ...table([['signals', 'now', 'then', 'for'], ...rows])];
}

/** The combinations to try: no signal, each signal alone, and for a rule that needs n > 1 signals, n signals that it counts. */
function combinationsFor({ rules }: RiskPolicy): (readonly PolicySignal[])[] {
  const larger = rules.flatMap(({ when, needs }, at) => {
    if (needs < 2) return [];
    const own = SIGNALS.filter((signal) => counts(when, signal) && !when.noneOf?.some((code) => code === signal.code));
    // Signals that alone match an earlier rule come last, so that some combinations are without such signals.
    const previous = rules.slice(0, at).filter((earlier) => !earlier.isShadow && earlier.needs === 1);
    const isDecided = (signal: PolicySignal) => previous.some((earlier) => counts(earlier.when, signal));
    const ordered = [...own.filter((signal) => !isDecided(signal)), ...own.filter(isDecided)];
    return ordered.map((_, first) => [...ordered, ...ordered].slice(first, first + needs));
  });
  return [[], ...SIGNALS.map((signal) => [signal]), ...larger];
}

/** Each client type with every event type that the rules name, and with undefined for all other event types. */
function casesOf(rules: readonly Rule[]): Case[] {
  const eventTypes = [...new Set(rules.flatMap(({ when }) => when.eventType ?? [])), undefined];
  return CLIENTS.flatMap((clientType) => eventTypes.map((eventType) => ({ clientType, eventType })));
}

const DECISION = ['action', 'rule', 'would act (shadow)', 'for'];

/** The action, the rule and the shadow rules of a decision. Adds the ids of the rules to `acted`. */
function cellsOf(policy: RiskPolicy, input: PolicyInput, acted = new Set<string>()): [string, string, string] {
  const shadows: string[] = [];
  const { action, rule } = decide(policy, input, (shadow) => {
    acted.add(shadow.rule);
    shadows.push(`${shadow.rule} (${shadow.action})`);
  });
  acted.add(rule);
  return [action, rule, shadows.join(', ')];
}

/** Each different decision, as cells, with the cases in which it is made. */
function outcomesOf(cases: readonly Case[], cellsIn: (tried: Case) => string[]): string[][] {
  const groups = Map.groupBy(cases, (tried) => cellsIn(tried).join('\n'));
  const named = ({ clientType, eventType = 'other' }: Case) => `${clientType} ${eventType}`;
  return [...groups].map(([key, some]) => [...key.split('\n'), groups.size === 1 ? 'all' : some.map(named).join(', ')]);
}

const nameOf = (signals: readonly PolicySignal[]) => signals.map(({ name }) => name).join(' + ') || '(none)';

function table(rows: readonly (readonly string[])[]): string[] {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (row: readonly string[]) => widths.map((width, column) => (row[column] ?? '').padEnd(width));
  return rows.map((row) => padded(row).join('  ').trimEnd());
}
