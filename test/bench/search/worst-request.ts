import { judgementRows } from '../../server/allowed-judgements.ts';
import { ALLOWED, startWordyUpstream, underName } from '../../server/allowed-requests.ts';
import { SEALING_KEYS } from '../../support/judgements.ts';
import { freePort } from '../../support/ports.ts';
import { openCollector } from '../collector.ts';
import { contenderNamed, OURS_NAME } from '../contenders.ts';
import { SEALING_KEY } from '../production.ts';
import { createRandom } from '../random.ts';
import { costOfRequest, leastOf, type RequestCost, type Target } from '../request-cost.ts';
import { fixed } from '../table.ts';
import type { Testbed } from '../testbed.ts';
import { describe, type Found, RESPECTS, type Respect, reportOf, UNITS, worstIn } from './found.ts';
import { type Genome, isWritable } from './genome.ts';
import { createMutator, resized } from './mutate.ts';
import { requestOf } from './request.ts';

/**
 * Looks for the most expensive request that the limits allow. It starts from random requests, and changes the most expensive
 * ones at random again and again. It sees only what the server answers and what that costs.
 */

/** What the machine and the search itself make of a request that costs nothing. */
const TRIVIAL = {
  what: 'trivial',
  body: (name: string) => `{"query":"query ${name} { __typename }"}`,
  isRepeated: false,
};

export interface Worst {
  readonly report: string;
  /** The most expensive request in each respect, as it is sent. */
  readonly found: Readonly<Record<Respect, { readonly cost: RequestCost; readonly body: string }>>;
}

/** Random requests before the first one is changed, and how many of the most expensive ones are changed. */
const RANDOM = 60;
const KEPT = 8;
/** Of these, how many are measured again in the end. */
const AGAIN = 3;
/** A document is compiled when it is sent for the third time, so the fourth request runs compiled code. */
const REPEATS = 3;
const ATTEMPTS = 2;
/** How often something that is refused is made smaller. */
const SHRINKS = 5;
const MOST_REMEMBERED = 300;

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
    const trivial = await measure(target, TRIVIAL, () => true);
    const known = await measureKnown(target, say);
    const search = await climb(target, seed, searchSeconds, say);
    // Again, because the first time may have been a bad moment of the machine.
    const found: [Respect, Found][] = [];
    for (const respect of RESPECTS) {
      const again: Found[] = [];
      for (const one of best(search.accepted, respect).slice(0, AGAIN)) {
        const { isAccepted, found: same } = await measure(target, one, () => true);
        if (isAccepted) again.push({ ...same, cost: leastOf([same.cost, one.cost]) });
      }
      found.push([respect, worstIn(respect, again)]);
    }
    return {
      report: reportOf(known, found, { ...search, seed, trivial: trivial.found }),
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
      const one = await measure(target, { what, body, isRepeated }, () => true);
      if (!one.isAccepted) throw new Error(`expected an allowed request, but got a refusal: ${what}`);
      known.push(one.found);
    }
    say(`known: ${what}`);
  }
  return known;
}

async function climb(target: Target, seed: number, seconds: number, say: (step: string) => void) {
  const { randomGenome, mutated, pick, upTo, chance } = createMutator(createRandom(seed));
  const accepted: Found[] = [];
  const refused: Found[] = [];
  let tried = 0;
  let allowed = 0;
  const most: Record<Respect, number> = { cpuMs: 0, mebibytes: 0, healthMs: 0 };
  const end = performance.now() + seconds * 1_000;

  /** Would it be among those that are changed further? */
  const isPromising = (cost: RequestCost) =>
    RESPECTS.some((respect) => {
      const least = best(accepted, respect).at(KEPT - 1);
      return !least || cost[respect] > least.cost[respect];
    });

  async function attempt(genome: Genome): Promise<boolean> {
    tried += 1;
    const what = describe(genome);
    const candidate = { what, body: (name: string) => requestOf(genome, name), isRepeated: genome.isRepeated, genome };
    const { found, isAccepted } = await measure(target, candidate, isPromising);
    allowed += Number(isAccepted);
    const list = isAccepted ? accepted : refused;
    list.push(found);
    if (list.length > MOST_REMEMBERED) keepWorst(list);
    for (const respect of RESPECTS) {
      if (!isAccepted || found.cost[respect] <= most[respect]) continue;
      most[respect] = found.cost[respect];
      say(`${fixed(found.cost[respect], 1)} ${UNITS[respect]}: ${what}`);
    }
    return isAccepted;
  }

  while (performance.now() < end) {
    const respect = chance(0.5) ? 'cpuMs' : pick(RESPECTS);
    const parents = best(accepted, respect);
    const parent = tried < RANDOM || parents.length === 0 || chance(0.1) ? undefined : pick(parents).genome;
    const grows = chance(0.3);
    let genome = parent ? resized(parent, grows ? 1 + upTo(20) / 10 : 1) : randomGenome();
    for (let changes = parent && !grows ? 1 + upTo(3) : 0; changes > 0; changes -= 1) genome = mutated(genome);
    for (let tries = 0; tries < SHRINKS; tries += 1) {
      if (isWritable(genome) && (await attempt(genome))) break;
      genome = resized(genome, 0.7);
    }
  }
  return { accepted, refused, tried, allowed };
}

const best = (list: readonly Found[], respect: Respect) =>
  list.toSorted((one, other) => other.cost[respect] - one.cost[respect]).slice(0, KEPT);

function keepWorst(list: Found[]): void {
  list.splice(0, list.length, ...new Set(RESPECTS.flatMap((respect) => best(list, respect))));
}

let names = 0;

/**
 * The least of two attempts, after those that let it be compiled. There is no second attempt for what is refused, or not worth
 * one.
 */
async function measure(
  target: Target,
  { what, body, isRepeated, ...genome }: Omit<Found, 'cost'>,
  isWorthMore: (cost: RequestCost) => boolean,
) {
  const costs: RequestCost[] = [];
  let isAccepted = true;
  const name = `Same${names++}`;
  for (let attempt = isRepeated ? -REPEATS : 0; attempt < ATTEMPTS && isAccepted; attempt += 1) {
    const { cost, status, text } = await answered(target, body(isRepeated ? name : `New${names++}`));
    isAccepted = status === 200 && !text.includes(' costs more than ');
    const isLast = !isAccepted || !isWorthMore(cost);
    if (attempt >= 0 || isLast) costs.push(cost);
    if (isLast) break;
  }
  return { isAccepted, found: { what, body, isRepeated, ...genome, cost: leastOf(costs) } };
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
