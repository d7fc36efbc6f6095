import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ATTACKS, bogus, CONNECTIONS, SPEND, solved } from './attacks.ts';
import { epochMs, ROUTER_SECRET } from './processes.ts';

/** People or a bot, in a process of their own. Both come through the router, so they have its secret. */

export interface Job {
  readonly who: 'people' | 'bot';
  readonly origin: string;
  /** Requests a second, sent whatever comes back, and for how long, in ms. */
  readonly rate: number;
  readonly ms: number;
  /** Of people: do they try once more if the answer asks for it? */
  readonly repeats?: boolean;
  /** Of the bot: where it can make noise at the captcha service. */
  readonly noise?: string;
}

/** What became of a request of people, or of the bot. */
export interface Sample {
  readonly question: 'captcha' | 'fingerprint' | 'attack';
  /** In ms since 1970. */
  readonly at: number;
  readonly answeredAt: number;
  /** `data` for a verdict or a judgement, else what there was instead; `lost` if the connection broke. */
  readonly outcome: string;
  readonly proceeds: boolean;
  /** What the first answer was, if it asked to try again. */
  readonly first: string;
}

const MOST_CONNECTIONS = 512;
const MAX_UNDER_WAY = 2_000;
const GIVE_UP_MS = 15_000;
const TICK_MS = 10;
/** Solving another challenge takes a second. */
const SOLVE_MS = 1_000;
/** Between two noises at the service, in ms. The least is more than the 300 ms between two probes. */
const NOISE = { least: 500, most: 3_000 };
const FINGERPRINT = `query Soak($token: String!) { deviceFingerprint(token: $token) { __typename } }`;

const headers = { 'router-authorization': ROUTER_SECRET, 'content-type': 'application/json' };
const samples: Sample[] = [];
let underWay = 0;

async function post(
  pool: Pool,
  question: Sample['question'],
  body: string,
  first = '',
): Promise<Sample & { text: string }> {
  underWay += 1;
  const at = epochMs();
  let [text, outcome] = ['', 'lost'];
  try {
    text = await (await pool.request({ path: '/graphql', method: 'POST', headers, body })).body.text();
    outcome = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? /"__typename":"(\w+)"/.exec(text)?.[1] ?? 'unreadable';
    if (outcome === 'CaptchaPassed' || outcome === 'DeviceFingerprint') outcome = 'data';
  } catch {
    // A connection that breaks is an answer like any other.
  }
  underWay -= 1;
  const proceeds = text.includes('"proceed":true');
  return { question, at, answeredAt: epochMs(), outcome, proceeds, first, text };
}

let visits = 0;
let proofs = 0;

/** One person; every second one has a captcha verified, and the others ask about a device. */
async function visit(pool: Pool, repeats: boolean): Promise<void> {
  visits += 1;
  const question = visits % 2 === 0 ? 'captcha' : 'fingerprint';
  const body = () => {
    proofs += 1;
    const proof = `proof-${process.pid}-${proofs}`;
    return question === 'captcha'
      ? JSON.stringify({ query: CAPTCHA_MUTATION, variables: { input: solved(proof) } })
      : JSON.stringify({ query: FINGERPRINT, variables: { token: proof } });
  };
  let answer = await post(pool, question, body());
  if (repeats && answer.outcome !== 'data' && /"retryable":true|new challenge/.test(answer.text)) {
    await sleep(SOLVE_MS);
    answer = { ...(await post(pool, question, body(), answer.outcome)), at: answer.at };
  }
  const { text: _text, ...sample } = answer;
  samples.push(sample);
}

async function attack(pool: Pool, body: string): Promise<void> {
  if (underWay >= MAX_UNDER_WAY) return;
  const { text: _text, ...sample } = await post(pool, 'attack', body);
  samples.push(sample);
}

/** One attempt, chosen at random. Gives how many requests and connections it was. */
function attempt(pool: Pool, { hostname, port }: URL): number {
  const bodies = ATTACKS[Math.floor(Math.random() * (ATTACKS.length + 1))]?.() ?? [];
  for (const body of bodies) void attack(pool, body);
  if (bodies.length > 0) return bodies.length;
  for (const make of CONNECTIONS) {
    const { bytes, endsMs } = make();
    const socket = connect(Number(port), hostname).on('error', () => {});
    const timer = setTimeout(() => socket.destroy(), endsMs);
    socket.once('close', () => clearTimeout(timer)).resume();
    socket.write(bytes);
  }
  return CONNECTIONS.length;
}

/** Closes the idle connections of the service, or has it fail for a moment, and sends captchas at that moment. */
async function makeNoise(pool: Pool, noise: string, end: number): Promise<void> {
  while (performance.now() < end) {
    await sleep(NOISE.least + Math.random() * (NOISE.most - NOISE.least));
    const made = fetch(`${noise}/noise/${Math.random() < 0.5 ? 'burst' : 'close-idle'}`);
    for (let count = 0; count < 10; count += 1) void attack(pool, bogus());
    await (await made).text();
  }
}

async function run({ who, origin, rate, ms, repeats = false, noise }: Job): Promise<readonly Sample[]> {
  const pool = new Pool(origin, { connections: MOST_CONNECTIONS, headersTimeout: GIVE_UP_MS, bodyTimeout: GIVE_UP_MS });
  // The bot has solved one challenge itself.
  if (who === 'bot') await post(pool, 'attack', SPEND);
  const people: Promise<void>[] = [];
  let last = performance.now();
  const end = last + ms;
  const noises = noise === undefined ? undefined : makeNoise(pool, noise, end);
  let budget = 1;
  for (let now = last; now < end; now = performance.now()) {
    budget += ((now - last) * rate) / 1_000;
    last = now;
    while (budget >= 1) {
      if (who === 'bot') budget -= attempt(pool, new URL(origin));
      else {
        people.push(visit(pool, repeats));
        budget -= 1;
      }
    }
    await sleep(TICK_MS);
  }
  await Promise.all([...people, noises]);
  while (underWay > 0) await sleep(TICK_MS);
  await pool.destroy();
  return samples;
}

process.on('message', async (job: Job) => process.send?.(await run(job)));
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
