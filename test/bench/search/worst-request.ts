import { judgementRows } from '../../server/allowed-judgements.ts';
import { ALLOWED, startWordyUpstream, underName } from '../../server/allowed-requests.ts';
import { SEALING_KEYS } from '../../support/judgements.ts';
import { freePort } from '../../support/ports.ts';
import { openCollector } from '../collector.ts';
import { contenderNamed, OURS_NAME } from '../contenders.ts';
import { SEALING_KEY } from '../production.ts';
import { createRandom } from '../random.ts';
import { costOfRequest, leastOf, type RequestCost, type Target } from '../request-cost.ts';
import { fixed, table } from '../table.ts';
import type { Testbed } from '../testbed.ts';
import { type Genome, isWritable } from './genome.ts';
import { createMutator } from './mutate.ts';
import { requestOf } from './request.ts';

/**
 * Looks for the most expensive request that the limits allow. It starts from random requests, and changes the most expensive
 * ones at random again and again. It sees only what the server answers and what that costs.
 */

/** In what respect a request is expensive, and what may be the most. */
const BOUNDS = { cpuMs: 250, mebibytes: 32, healthMs: 300 } as const satisfies Record<keyof RequestCost, number>;
const UNITS = { cpuMs: 'ms of CPU', mebibytes: 'MiB', healthMs: 'ms until /healthz answers' } as const;
type Respect = keyof typeof BOUNDS;
const RESPECTS = ['cpuMs', 'mebibytes', 'healthMs'] as const satisfies readonly Respect[];

/** A request and what it costs. */
interface Found {
  readonly what: string;
  readonly body: (name: string) => string;
  readonly isRepeated: boolean;
  readonly cost: RequestCost;
  readonly genome?: Genome;
}

export interface Worst {
  readonly report: string;
  /** The most expensive request in each respect, as it is sent. */
  readonly found: Readonly<Record<Respect, { readonly cost: RequestCost; readonly body: string }>>;
}

/** Random requests before the first one is changed, and how many of the most expensive ones are changed. */
const RANDOM = 60;
const KEPT = 8;
/** A document is compiled when it is sent for the third time, so the fourth request runs compiled code. */
const REPEATS = 3;
/** The most expensive ones are measured again: the first time may have been a bad moment of the machine. */
const AGAIN = 4;

export async function searchWorst(
  testbed: Testbed,
  { seed, searchSeconds }: { readonly seed: number; readonly searchSeconds: number },
  say: (step: string) => void,
): Promise<Worst> {
  const upstream = await startWordyUpstream();
  const port = await freePort();
  const server = await testbed.start(contenderNamed(OURS_NAME), {
    nodeOptions: [`--inspect=127.0.0.1:${port}`, '--inspect-publish-uid=http'],
    env: { FINGERPRINT_URL_EU: upstream.url, SEALING_KEYS: JSON.stringify([SEALING_KEY, ...SEALING_KEYS]) },
  });
  const collector = await openCollector(port);
  const target = { ...server, healthUrl: new URL('/healthz', server.url).href, collector };
  try {
    const known = await measureKnown(target, say);
    const search = await climb(target, known, seed, searchSeconds, say);
    const found = RESPECTS.map((respect) => [respect, worstIn(respect, search.accepted)] as const);
    for (const [at, [respect, one]] of found.entries()) {
      const cost = await measureOften(target, one);
      found[at] = [respect, { ...one, cost: cost ?? one.cost }];
    }
    return {
      report: reportOf(known, found, search, seed),
      found: Object.fromEntries(
        found.map(([respect, { cost, body }]) => [respect, { cost, body: body('Worst') }]),
      ) as Worst['found'],
    };
  } finally {
    await collector.close();
    await server.end();
    await upstream.stop();
  }
}

/** What `test/server/worst-request.test.ts` checks, new and repeated. */
async function measureKnown(target: Target, say: (step: string) => void): Promise<Found[]> {
  const known: Found[] = [];
  for (const [what, document, variables] of [...ALLOWED, ...judgementRows()]) {
    const body = (name: string) => JSON.stringify({ query: underName(name, document), variables });
    for (const isRepeated of [false, true]) {
      const one = await measure(target, { what, body, isRepeated });
      if (!one.isAccepted) throw new Error(`expected an allowed request, but got a refusal: ${what}`);
      known.push(one.found);
    }
    say(`known: ${what}`);
  }
  return known;
}

async function climb(
  target: Target,
  known: readonly Found[],
  seed: number,
  seconds: number,
  say: (step: string) => void,
) {
  const { randomGenome, mutated, pick, upTo, chance } = createMutator(createRandom(seed));
  const accepted: Found[] = [];
  const refused: Found[] = [];
  let tried = 0;
  const most = new Map(RESPECTS.map((respect) => [respect, worstIn(respect, known).cost[respect]]));
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; ) {
    const respect = chance(0.5) ? 'cpuMs' : pick(RESPECTS);
    const parents = accepted.toSorted((one, other) => other.cost[respect] - one.cost[respect]).slice(0, KEPT);
    const parent = tried < RANDOM || chance(0.1) ? undefined : pick(parents)?.genome;
    let genome = parent ?? randomGenome();
    for (let changes = parent ? 1 + upTo(3) : 0; changes > 0; changes -= 1) genome = mutated(genome);
    if (!isWritable(genome)) continue;
    tried += 1;
    const what = describe(genome);
    const candidate = { what, body: (name: string) => requestOf(genome, name), isRepeated: genome.isRepeated, genome };
    const { found, isAccepted } = await measure(target, candidate);
    (isAccepted ? accepted : refused).push(found);
    for (const one of RESPECTS) {
      if (!isAccepted || found.cost[one] <= (most.get(one) ?? 0)) continue;
      most.set(one, found.cost[one]);
      say(`${fixed(found.cost[one], 1)} ${UNITS[one]}: ${what}`);
    }
    // Only the best are ever asked for again.
    for (const list of [accepted, refused]) if (list.length > 500) keepWorst(list);
  }
  return { accepted, refused, tried };
}

function keepWorst(list: Found[]): void {
  const kept = new Set(
    RESPECTS.flatMap((respect) => list.toSorted((a, b) => b.cost[respect] - a.cost[respect]).slice(0, KEPT)),
  );
  list.splice(0, list.length, ...kept);
}

let names = 0;

/** The least of two attempts, after those that let it be compiled. What is refused is measured once. */
async function measure(target: Target, { what, body, isRepeated, ...genome }: Omit<Found, 'cost'>) {
  const costs: RequestCost[] = [];
  let isAccepted = true;
  const name = `Same${names++}`;
  for (let attempt = isRepeated ? -REPEATS : 0; attempt < 2 && isAccepted; attempt += 1) {
    const { cost, status, text } = await answered(target, body(isRepeated ? name : `New${names++}`));
    isAccepted = status === 200 && !text.includes(' costs more than ');
    if (attempt >= 0 || !isAccepted) costs.push(cost);
  }
  return { isAccepted, found: { what, body, isRepeated, ...genome, cost: leastOf(costs) } };
}

async function measureOften(target: Target, found: Found): Promise<RequestCost | undefined> {
  const costs: RequestCost[] = [];
  for (let attempt = 0; attempt < AGAIN; attempt += 1) {
    const one = await measure(target, found);
    if (one.isAccepted) costs.push(one.found.cost);
  }
  return costs.length > 0 ? leastOf(costs) : undefined;
}

/** After an expensive request the server may be shedding load, so it is asked again until it is not. */
async function answered(target: Target, body: string) {
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await costOfRequest(target, body);
    if (answer.status !== 503) return answer;
  }
  throw new Error(
    'expected a server that has nothing else to do to take a request, but it answered 503 a hundred times',
  );
}

/** @throws Error if there is none */
function worstIn(respect: Respect, list: readonly Found[]): Found {
  const [worst] = list.toSorted((one, other) => other.cost[respect] - one.cost[respect]);
  if (!worst) throw new Error('expected a request that is allowed, but the search found none');
  return worst;
}

function describe(genome: Genome): string {
  const { references, metadata, text, padding } = genome;
  const body = requestOf(genome, 'Search');
  const { query }: { query: string } = JSON.parse(body);
  const short = query
    .replaceAll(/\s+/g, ' ')
    .slice(padding.count * padding.piece.trim().length, 300 + padding.count * padding.piece.trim().length);
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

function reportOf(
  known: readonly Found[],
  found: readonly (readonly [Respect, Found])[],
  { accepted, refused, tried }: Awaited<ReturnType<typeof climb>>,
  seed: number,
): string {
  const rows = found.map(([respect, one]) => {
    const before = worstIn(respect, known);
    const late = refused.length > 0 ? worstIn(respect, refused).cost[respect] : Number.NaN;
    const most = Math.max(before.cost[respect], one.cost[respect]);
    return [
      UNITS[respect],
      ...[before.cost[respect], one.cost[respect], late].map((value) => fixed(value, 1)),
      String(BOUNDS[respect]),
      most <= BOUNDS[respect] ? 'yes' : 'no',
    ];
  });
  return [
    `Search for the most expensive request: ${tried} tried, ${refused.length} refused, seed ${seed}`,
    table(['', 'known before', 'found', 'of a refused one', 'at most', 'met'], rows),
    ...found.map(([respect, one]) => `\n${UNITS[respect]}, ${fixed(one.cost[respect], 1)}: ${one.what}`),
    ...RESPECTS.map((respect) => `known before, ${UNITS[respect]}: ${worstIn(respect, known).what}`),
    accepted.length > 0 ? '' : 'no request was allowed',
    '',
  ].join('\n');
}
