import type { RequestCost } from '../request-cost.ts';
import { fixed, table } from '../table.ts';
import type { Genome } from './genome.ts';
import { requestOf } from './request.ts';

/** What a search has found, and how it is shown. */

/** In what respect a request is expensive, and what may be the most. */
const BOUNDS = { cpuMs: 250, mebibytes: 32, healthMs: 300 } as const satisfies Record<keyof RequestCost, number>;
export const UNITS = { cpuMs: 'ms of CPU', mebibytes: 'MiB', healthMs: 'ms until /healthz answers' } as const;
export type Respect = keyof typeof BOUNDS;
export const RESPECTS = ['cpuMs', 'mebibytes', 'healthMs'] as const satisfies readonly Respect[];

/** A request and what it costs. */
export interface Found {
  readonly what: string;
  readonly body: (name: string) => string;
  readonly isRepeated: boolean;
  readonly cost: RequestCost;
  readonly genome?: Genome;
}

/** @throws Error if there is none */
export function worstIn(respect: Respect, list: readonly Found[]): Found {
  const [worst] = list.toSorted((one, other) => other.cost[respect] - one.cost[respect]);
  if (!worst) throw new Error('expected a request that is allowed, but the search found none');
  return worst;
}

/** Characters of a document. */
const MOST_SHOWN = 300;

export function describe(genome: Genome): string {
  const { references, metadata, text, padding } = genome;
  const body = requestOf(genome, 'Search');
  const { query }: { query: string } = JSON.parse(body);
  const short = query
    .slice(padding.count * padding.piece.length)
    .trim()
    .slice(0, MOST_SHOWN);
  const parts = [
    `${Buffer.byteLength(body)} bytes`,
    genome.isRepeated ? 'repeated' : 'new',
    short.includes('$references') && `${references.count} references (${references.kinds}) to ${references.distinct}`,
    /\$(metadata|device)/.test(query) && `metadata ${JSON.stringify(metadata)}`,
    genome.unasked !== 'nowhere' && `${genome.unasked} with ${JSON.stringify(metadata)}`,
    /\$(text|device|proof)/.test(query) && `${text.length} times ${JSON.stringify(text.character)}`,
    padding.count > 0 && `${padding.count} times ${JSON.stringify(padding.piece)}`,
  ];
  return `${parts.filter(Boolean).join(', ')}: ${short}`;
}

interface Search {
  readonly refused: readonly Found[];
  readonly tried: number;
  readonly allowed: number;
  readonly seed: number;
  readonly trivial: Found;
}

export function reportOf(
  known: readonly Found[],
  found: readonly (readonly [Respect, Found])[],
  { refused, tried, allowed, seed, trivial }: Search,
): string {
  const rows = found.map(([respect, one]) => {
    const before = worstIn(respect, known);
    const late = refused.length > 0 ? worstIn(respect, refused).cost[respect] : Number.NaN;
    const most = Math.max(before.cost[respect], one.cost[respect]);
    return [
      UNITS[respect],
      ...[trivial.cost[respect], before.cost[respect], one.cost[respect], late].map((value) => fixed(value, 1)),
      String(BOUNDS[respect]),
      most <= BOUNDS[respect] ? 'yes' : 'no',
    ];
  });
  return [
    `Search for the most expensive request: ${tried} tried, ${allowed} allowed, seed ${seed}`,
    table(['', 'trivial', 'known before', 'found', 'of a refused one', 'at most', 'met'], rows),
    ...found.map(([respect, one]) => `\n${UNITS[respect]}, ${fixed(one.cost[respect], 1)}: ${one.what}`),
    ...RESPECTS.map((respect) => `known before, ${UNITS[respect]}: ${worstIn(respect, known).what}`),
    '',
  ].join('\n');
}
