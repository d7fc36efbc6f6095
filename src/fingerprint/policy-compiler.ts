import { createHash } from 'node:crypto';
import { counts, OTHERWISE, type PolicyDefinition, type RiskPolicy, type Rule, type RuleDefinition } from './policy.ts';
import { signalSet } from './signal-set.ts';
import { LEVEL_RANK } from './signals.ts';

/** Makes a policy out of its definition. */

/** Prepares a valid definition, so that a decision costs less than a microsecond. */
export function compilePolicy(definition: PolicyDefinition): RiskPolicy {
  const rules = definition.rules.map(canonical);
  const { otherwise } = definition;
  const id = createHash('sha256').update(JSON.stringify({ rules, otherwise })).digest('hex').slice(0, 12);
  return {
    id,
    rules: rules.map((rule) => compileRule(rule, id)),
    otherwise: { action: otherwise, rule: OTHERWISE, policy: id },
  };
}

/** The same rule written in one way: keys in one order, lists sorted and without repetition, no default spelled out. */
function canonical({ id, when, then, shadow }: RuleDefinition) {
  const { effect, minLevel, minConfidence, atLeast } = when;
  return {
    id,
    when: {
      anyOf: sortedSet(when.anyOf),
      noneOf: sortedSet(when.noneOf),
      effect,
      minLevel,
      minConfidence,
      atLeast,
      eventType: sortedSet(when.eventType),
      clientType: sortedSet(when.clientType),
    },
    then,
    shadow: shadow || undefined,
  };
}

function sortedSet<Text extends string>(given: Text | readonly Text[] | undefined): readonly Text[] | undefined {
  if (given === undefined) return undefined;
  // Sound: without a list it is one text, which Array.isArray cannot tell from a readonly list in its type.
  const list = Array.isArray(given) ? (given as readonly Text[]) : [given as Text];
  return [...new Set(list)].sort();
}

function compileRule({ id, when, then, shadow }: ReturnType<typeof canonical>, policy: string): Rule {
  const { anyOf, effect, minLevel, minConfidence, atLeast } = when;
  const own = {
    anyOf: anyOf && new Set<string>(anyOf),
    effect,
    minRank: LEVEL_RANK[minLevel ?? 'LOW'],
    minConfidence: minConfidence ?? 0,
  };
  const noneOf = when.noneOf && new Set<string>(when.noneOf);
  const saysWhich = [anyOf, effect, minLevel, minConfidence].some((key) => key !== undefined);
  return {
    isShadow: shadow === true,
    decision: { action: then, rule: id, policy },
    needs: atLeast ?? Number(saysWhich),
    ...own,
    noneOf,
    counting: signalSet((row) => counts(own, { ...row, name: row.code })),
    excluded: noneOf && signalSet(({ code }) => noneOf.has(code)),
    eventTypes: when.eventType && new Set(when.eventType),
    clientTypes: when.clientType && new Set(when.clientType),
  };
}
