import {
  counts,
  DEFAULT_POLICY,
  decide,
  loadPolicy,
  matches,
  type PolicyInput,
  type PolicySignal,
  type RiskPolicy,
  type Rule,
} from './fingerprint/policy.ts';
import { PolicyError } from './fingerprint/policy-format.ts';
import { SIGNAL_CATALOGUE } from './fingerprint/signal-catalogue.ts';

/** Tries a risk policy before it is used: `npm run policy -- FILE`, or without a file the built-in one. */

const NEWER = { code: null, confidence: 1, effect: null };
const SIGNALS: readonly PolicySignal[] = [
  ...SIGNAL_CATALOGUE.map((row) => ({ ...row, name: row.code })),
  ...(['LOW', 'MEDIUM', 'HIGH'] as const).map((level) => ({ ...NEWER, name: `(not documented, ${level})`, level })),
];
const HEAD = ['signals', 'level', 'confidence', 'effect', 'action', 'rule', 'would act (shadow)', 'for'];

const [path] = process.argv.slice(2);
try {
  process.stdout.write(path === undefined ? report(DEFAULT_POLICY, 'built in') : report(loadPolicy(path), path));
} catch (error) {
  if (!(error instanceof PolicyError)) throw error;
  process.stderr.write(`${[`${path} is no policy that can be used:`, ...error.problems].join('\n  ')}\n`);
  process.exitCode = 1;
}

function report(policy: RiskPolicy, source: string): string {
  const { id, rules, otherwise } = policy;
  const acted = new Set<string>();
  const rows = combinationsFor(policy).flatMap((signals) =>
    decisionsAbout(policy, signals).flatMap(({ cells, acting }) => {
      const isFirst = acting.some((rule) => !acted.has(rule));
      for (const rule of acting) acted.add(rule);
      return isFirst || signals.length < 2 ? [[...nameAndRow(signals), ...cells]] : [];
    }),
  );
  const idle = rules.filter(({ decision }) => !acted.has(decision.rule));
  return [
    `Policy ${id}, ${source}: ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}, otherwise ${otherwise.action}.`,
    'What it decides about a device with no signal, with one, and with several if a rule acts on them for the first time:',
    '',
    ...table([HEAD, ...rows]),
    '',
    'schema/fingerprint.graphql says what each signal means. Tried were as many at once as a rule asks for.',
    idle.length === 0 ? 'Every rule acts on something that was tried.' : 'These rules act on nothing that was tried:',
    ...idle.map((rule) => `  ${rule.decision.rule}: ${whyIdle(policy, rule)}`),
    '',
  ].join('\n');
}

/** Which rules decide where the conditions of a rule hold that never acts, if they ever do. */
function whyIdle(policy: RiskPolicy, rule: Rule): string {
  const inputs = combinationsFor(policy).flatMap((signals) => inputsFor(policy, signals));
  const names = new Set(inputs.flatMap((input) => (matches(rule, input) ? decide(policy, input).rule : [])));
  return names.size === 0 ? 'its conditions never hold' : `an earlier rule always decides: ${[...names].join(', ')}`;
}

/** No signal, each alone, and for a rule that needs more so many of those that it counts. */
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

/** These signals from each client type, with every event type that the policy names, and with none for all others. */
function inputsFor({ rules }: RiskPolicy, signals: readonly PolicySignal[]): PolicyInput[] {
  const eventTypes = [...new Set(rules.flatMap(({ when }) => when.eventType ?? [])), undefined];
  const clientTypes = ['ANDROID', 'IOS', 'WEB_H5'] as const;
  return clientTypes.flatMap((clientType) => eventTypes.map((eventType) => ({ clientType, eventType, signals })));
}

/** Each different decision about these signals, with the rules that act and with the questions for which it is made. */
function decisionsAbout(policy: RiskPolicy, signals: readonly PolicySignal[]) {
  const byDecision = new Map<string, Record<'acting' | 'made' | 'askedBy', string[]>>();
  for (const input of inputsFor(policy, signals)) {
    const acting: string[] = [];
    const shadows: string[] = [];
    const { action, rule } = decide(policy, input, (shadow) => {
      acting.push(shadow.rule);
      shadows.push(`${shadow.rule} (${shadow.action})`);
    });
    const made = [action, rule, shadows.join(', ')];
    const known = byDecision.get(made.join()) ?? { acting: [...acting, rule], made, askedBy: [] };
    known.askedBy.push(`${input.clientType} ${input.eventType ?? 'other'}`);
    byDecision.set(made.join(), known);
  }
  const isAlways = byDecision.size === 1;
  return [...byDecision.values()].map(({ acting, made, askedBy }) => ({
    acting,
    cells: [...made, isAlways ? 'all' : askedBy.join(', ')],
  }));
}

function nameAndRow(signals: readonly PolicySignal[]): string[] {
  const [first, ...others] = signals;
  if (!first) return ['(none)', '', '', ''];
  if (others.length > 0) return [signals.map(({ name }) => name).join(' + '), '', '', ''];
  return [first.name, first.level, String(first.confidence), first.effect ?? ''];
}

/** Lines whose cells stand below each other. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (row: readonly string[]) => widths.map((width, column) => (row[column] ?? '').padEnd(width));
  return rows.map((row) => padded(row).join('  ').trimEnd());
}
