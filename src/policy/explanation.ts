import { decide, type RiskPolicy } from '../fingerprint/policy.ts';
import type { PolicySignal } from '../fingerprint/signal-set.ts';
import { SIGNAL_CATALOGUE } from '../fingerprint/signals.ts';
import { CLIENT_TYPES, eventTypesOf, unreachableRules } from './unreachable.ts';

/** A text that explains a policy to an analyst: what it decides about each signal alone, and which rules never match. */
export function explain(policy: RiskPolicy, source: string): string {
  const { id, rules, otherwise } = policy;
  const unreachable = [...unreachableRules(policy)].map(([rule, reason]) => `  ${rule}: ${reason}.`);
  return [
    `Policy ${id}, ${source}: ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}, otherwise ${otherwise.action}.`,
    '',
    'What it decides about a device with one signal:',
    '',
    ...table([
      ['signal', 'level', 'confidence', 'effect', 'action', 'rule', 'also counted by', 'for'],
      ...rowsOf(policy),
    ]),
    '',
    ...(unreachable.length === 0 ? ['Every rule can match.'] : ['These rules can never match:', ...unreachable]),
    '',
  ].join('\n');
}

function rowsOf(policy: RiskPolicy): string[][] {
  const alone = SIGNAL_CATALOGUE.flatMap((row) => {
    const cells = [row.code, row.level, String(row.confidence), row.effect];
    return decisionsAbout(policy, [{ ...row, name: row.code }]).map((decided) => [...cells, ...decided]);
  });
  return [...decisionsAbout(policy, []).map((decided) => ['(none)', '', '', '', ...decided]), ...alone];
}

/** Each different decision about these signals, with the client types and event types for which it is made. */
function decisionsAbout(policy: RiskPolicy, signals: readonly PolicySignal[]): string[][] {
  const byDecision = new Map<string, { readonly cells: string[]; readonly questions: string[] }>();
  for (const clientType of CLIENT_TYPES) {
    for (const eventType of eventTypesOf(policy)) {
      const shadows: string[] = [];
      const onShadow = ({ rule, action }: { rule: string; action: string }) => shadows.push(`${rule} (${action})`);
      const { action, rule } = decide(policy, { clientType, signals }, { eventType }, onShadow);
      const cells = [action, rule, shadows.join(', ')];
      const known = byDecision.get(cells.join()) ?? { cells, questions: [] };
      known.questions.push(`${clientType} ${eventType ?? 'other'}`);
      byDecision.set(cells.join(), known);
    }
  }
  const isAlways = byDecision.size === 1;
  return [...byDecision.values()].map(({ cells, questions }) => [...cells, isAlways ? 'all' : questions.join(', ')]);
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
