import { sealedJudgement } from '../sealed.ts';
import { lotNumber } from '../tokens.ts';
import { VARIABLES, valuesOf } from './arguments.ts';
import type { Genome, ReferenceKind, Selection } from './genome.ts';
import { fieldOf } from './schema.ts';

/** A request, as it is sent. Its values are texts of JSON, because they can be nested deeper than `JSON.stringify` writes. */
export function requestOf(genome: Genome, name: string): string {
  const { operation, roots, padding, otherOperations, unasked, metadata } = genome;
  const fragments: string[] = [];
  const body = roots.map((root) => written(root, fragments)).join(' ');
  const selected = `${body} ${fragments.join(' ')}`;
  const used = Object.entries(VARIABLES).filter(([variable]) => selected.includes(`$${variable}`));
  const declared = used.map(([variable, type]) => `$${variable}: ${type}`).join(', ');
  const head = `${operation} ${name}${declared === '' ? '' : `(${declared})`}`;
  const others = Array.from({ length: otherOperations }, (_, at) => `query Other${at} { __typename }`);
  const blank = `${padding.piece.repeat(padding.count)} `;
  const query = [`${blank}${head} { ${body} }`, ...fragments, ...others].join(' ');
  const values = variablesOf(genome);
  const variables = used.map(([variable]) => `"${variable}":${values[variable]?.()}`);
  if (unasked === 'variables') variables.push(`"unasked":${freeForm(metadata)}`);
  const extensions = unasked === 'extensions' ? `,"extensions":${freeForm(metadata)}` : '';
  return `{"query":${JSON.stringify(query)},"variables":{${variables}},"operationName":"${name}"${extensions}}`;
}

function written(selection: Selection, fragments: string[]): string {
  const { type, field, copies, isAliased, via, isConditional, values, children } = selection;
  const below = children.map((child) => written(child, fragments)).join(' ');
  const condition = isConditional ? ' @include(if: $yes)' : '';
  const one = (at: number) => {
    const given = fieldOf(type, field).args.flatMap((argument) => {
      const candidates = valuesOf(argument);
      const value = candidates[(values[argument.name] ?? 0) % candidates.length];
      return value === undefined ? [] : [`${argument.name}: ${value.replace('{}', String(at))}`];
    });
    const alias = isAliased ? `${field.replaceAll('_', '')}${number(selection)}x${at}: ` : '';
    return `${alias}${field}${given.length > 0 ? `(${given.join(', ')})` : ''}${condition}${below === '' ? '' : ` { ${below} }`}`;
  };
  const all = Array.from({ length: copies }, (_, at) => one(at)).join(' ');
  if (via === 'field') return type === 'Query' || type === 'Mutation' ? all : `... on ${type} { ${all} }`;
  if (via === 'inline fragment') return `... on ${type}${condition} { ${all} }`;
  fragments.push(`fragment F${fragments.length} on ${type} { ${all} }`);
  return `...F${fragments.length - 1}${condition}`;
}

/** Distinguishes the aliases of two selections of the same field: equal ones would have to be the same question. */
const numbers = new WeakMap<Selection, number>();
let last = 0;
function number(selection: Selection): number {
  const known = numbers.get(selection) ?? last++;
  numbers.set(selection, known);
  return known;
}

/** The variables by name, as JSON, made only if they are used. */
function variablesOf({ references, metadata, text }: Genome): Readonly<Record<string, () => string>> {
  const long = JSON.stringify(text.character.repeat(text.length));
  const all = () =>
    Array.from({ length: references.count }, (_, at) => {
      const kind = references.kinds[at % references.kinds.length] ?? 'none';
      return referenceOf(kind, at % references.distinct);
    });
  const proof = `"lotNumber":"${lotNumber(1)}","passToken":"x","genTime":"1772353800"`;
  return {
    references: () => JSON.stringify(all()),
    metadata: () => freeForm(metadata),
    device: () => `{"accountId":${long},"userAgent":${long},"additional":${freeForm(metadata)}}`,
    text: () => long,
    proof: () => `{${proof},"captchaOutput":${long}}`,
    yes: () => 'true',
  };
}

function freeForm({ breadth, depth, length, list, isList }: Genome['metadata']): string {
  const leaf = list > 0 ? `[${Array(list).fill(1)}]` : `"${'x'.repeat(length)}"`;
  const values = Array.from({ length: breadth }, (_, at) => (isList ? leaf : `"k${at}":${leaf}`)).join();
  const [open, close] = isList ? [`[${values}`, ']'] : [`{${values}`, '}'];
  const next = `${breadth > 0 ? ',' : ''}${isList ? '' : '"deep":'}`;
  const nested = `${(open + next).repeat(depth)}${open}${close.repeat(depth + 1)}`;
  // The variable is an object.
  return isList ? `{"list":${nested}}` : nested;
}

function referenceOf(kind: ReferenceKind, at: number): unknown {
  if (kind === 'none') return 'x';
  if (kind === 'unknown') return { __typename: 'Nothing' };
  if (kind === 'sealed') return { __typename: 'DeviceJudgement', sealed: sealedJudgement(at) };
  if (kind === 'forged') return { __typename: 'DeviceJudgement', sealed: forged(sealedJudgement(at)) };
  return { __typename: 'DeviceFingerprint', token: `${kind}${at}` };
}

/** The last character of a tag has four spare bits, so the one before it is changed. */
function forged(sealed: string): string {
  return `${sealed.slice(0, -2)}${sealed.at(-2) === 'x' ? 'y' : 'x'}${sealed.slice(-1)}`;
}
