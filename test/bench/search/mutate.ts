import { getNamedType } from 'graphql';
import type { Random } from '../random.ts';
import { CHARACTERS, type Genome, PADDINGS, REFERENCE_KINDS, type Selection } from './genome.ts';
import { fieldNames, fieldOf, isComposite, possibleTypes, rootType } from './schema.ts';

/** Random requests and random changes of one. Nothing here knows the limits: what they refuse is not kept. */

/** No request needs more of anything to reach a limit. */
const MOST = 250_000;

export function createMutator(random: Random) {
  const upTo = (count: number) => Math.floor(random() * count);
  const chance = (part: number) => random() < part;
  // Sound: nobody picks from an empty list.
  const pick = <Value>(values: readonly Value[]) => values[upTo(values.length)] as Value;
  /** Somewhat less or more: mostly a little, so that a request that is just within a limit can come nearer to it. */
  const scaled = (value: number) => {
    const factor = 2 ** ((random() * 2 - 1) * pick([0.1, 0.5, 2]));
    const next = Math.round(value * factor) + pick([-1, 0, 0, 1]);
    return Math.max(0, Math.min(MOST, next));
  };

  function randomSelection(parent: string, depth: number): Selection {
    const type = pick(possibleTypes(parent));
    const composite = (name: string) => isComposite(getNamedType(fieldOf(type.name, name).type));
    const names = fieldNames(type);
    const fitting = depth > 0 ? names : names.filter((name) => !composite(name));
    const field = pick(fitting.length > 0 ? fitting : names);
    const below = getNamedType(fieldOf(type.name, field).type);
    return {
      type: type.name,
      field,
      copies: chance(0.5) ? 1 : 1 + upTo(40),
      isAliased: chance(0.7),
      via: pick(['field', 'field', 'inline fragment', 'fragment'] as const),
      isConditional: chance(0.1),
      values: Object.fromEntries(fieldOf(type.name, field).args.map(({ name }) => [name, upTo(8)])),
      children: isComposite(below)
        ? Array.from({ length: 1 + upTo(6) }, () => randomSelection(below.name, depth - 1))
        : [],
    };
  }

  /** Broad mostly, and now and then deep. */
  function randomMetadata(): Genome['metadata'] {
    const isList = chance(0.3);
    if (chance(0.2)) return { breadth: 0, depth: upTo(MOST), length: 0, list: 0, isList };
    return { breadth: upTo(1_000), depth: upTo(3), length: upTo(20), list: chance(0.3) ? upTo(100) : 0, isList };
  }

  function randomGenome(): Genome {
    const operation = chance(0.95) ? 'query' : 'mutation';
    return {
      operation,
      roots: Array.from({ length: 1 + upTo(2) }, () => randomSelection(rootType(operation), 4)),
      references: {
        count: 1 + upTo(1_000),
        kinds: [chance(0.5) ? 'phone' : pick(REFERENCE_KINDS)],
        distinct: 1 + upTo(200),
      },
      metadata: randomMetadata(),
      text: { length: upTo(10_000), character: pick(CHARACTERS) },
      unasked: pick(['nowhere', 'nowhere', 'nowhere', 'variables', 'extensions'] as const),
      padding: { count: chance(0.2) ? upTo(100_000) : 0, piece: pick(PADDINGS) },
      otherOperations: chance(0.1) ? upTo(50) : 0,
      isRepeated: chance(0.5),
    };
  }

  /** The same selections, of which one, anywhere, is changed. */
  function changeOne(selections: readonly Selection[], parent: string): Selection[] {
    const at = upTo(selections.length);
    return selections.flatMap((selection, index) =>
      index === at ? changed(selection, selections.length, parent) : [selection],
    );
  }

  function changed(selection: Selection, siblings: number, parent: string): Selection[] {
    const { type, field, children } = selection;
    const below = getNamedType(fieldOf(type, field).type).name;
    if (children.length > 0 && chance(0.6)) return [{ ...selection, children: changeOne(children, below) }];
    switch (upTo(8)) {
      case 0:
        return [{ ...selection, isAliased: !selection.isAliased }];
      case 1:
        return [{ ...selection, via: pick(['field', 'inline fragment', 'fragment'] as const) }];
      case 2:
        return [{ ...selection, isConditional: !selection.isConditional }];
      case 3:
        return [
          { ...selection, values: Object.fromEntries(Object.keys(selection.values).map((name) => [name, upTo(8)])) },
        ];
      case 4:
        return siblings > 1 ? [] : [selection];
      case 5:
        return [selection, randomSelection(parent, 2)];
      case 6:
        // The same once more, beside it.
        return [selection, { ...selection }];
      default:
        return [{ ...selection, copies: Math.max(1, scaled(selection.copies)) }];
    }
  }

  function mutated(genome: Genome): Genome {
    const { references, metadata, text, padding } = genome;
    switch (upTo(12)) {
      case 0:
        return { ...genome, references: { ...references, count: Math.max(1, scaled(references.count)) } };
      case 1:
        return { ...genome, references: { ...references, distinct: Math.max(1, scaled(references.distinct)) } };
      case 2: {
        const kinds = Array.from({ length: 1 + upTo(3) }, () => pick(REFERENCE_KINDS));
        return { ...genome, references: { ...references, kinds } };
      }
      case 3: {
        const key = pick(['breadth', 'depth', 'length', 'list'] as const);
        return { ...genome, metadata: { ...metadata, [key]: scaled(metadata[key] + 1) } };
      }
      case 4:
        return { ...genome, text: { length: scaled(text.length + 1), character: pick(CHARACTERS) } };
      case 5:
        return { ...genome, padding: { count: scaled(padding.count + 1), piece: pick(PADDINGS) } };
      case 6:
        return chance(0.3)
          ? { ...genome, metadata: { ...metadata, isList: !metadata.isList } }
          : { ...genome, unasked: pick(['nowhere', 'variables', 'extensions'] as const) };
      case 7:
        return chance(0.3)
          ? { ...genome, otherOperations: scaled(genome.otherOperations + 1) }
          : { ...genome, isRepeated: !genome.isRepeated };
      default:
        return { ...genome, roots: changeOne(genome.roots, rootType(genome.operation)) };
    }
  }

  return { randomGenome, mutated, pick, chance, upTo };
}

/** So many times as much of everything: what was refused may fit then, or what was allowed come nearer to a limit. */
export function resized(genome: Genome, factor: number): Genome {
  const { roots, references, metadata, text, padding, otherOperations } = genome;
  const times = (value: number) => Math.min(MOST, Math.floor(value * factor));
  const selection = (one: Selection): Selection => ({
    ...one,
    copies: Math.max(1, times(one.copies)),
    children: one.children.map(selection),
  });
  return {
    ...genome,
    // A list of references multiplies what is selected below it, so only one of both grows.
    roots: factor < 1 ? roots.map(selection) : roots,
    references: {
      ...references,
      count: Math.max(1, times(references.count)),
      distinct: Math.max(1, times(references.distinct)),
    },
    metadata: {
      ...metadata,
      breadth: times(metadata.breadth),
      list: times(metadata.list),
      depth: times(metadata.depth),
    },
    text: { ...text, length: times(text.length) },
    padding: { ...padding, count: times(padding.count) },
    otherOperations: times(otherOperations),
  };
}
