import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { Agent } from 'undici';
import { ATTACKS, bogus, SPEND, solved } from './attacks.ts';
import { AUDIENCE, ISSUER, ROUTER_SECRET } from './processes.ts';

/** People or a bot, in a thread of their own, with the router's secret. */

export interface Job {
  readonly who: 'people' | 'bot';
  /** Where GraphQL is. The channel `replicas` tells of a change. */
  readonly urls: readonly string[];
  /** Requests a second, sent whatever comes back, and for how long, in ms. */
  readonly rate: number;
  readonly ms: number;
  /** Of the bot: where it can make noise at the captcha service. */
  readonly noise?: string;
}

/** What became of a request of people, or of the bot. */
export interface Sample {
  /** When the last answer came, as `Date.now()` says it. */
  readonly at: number;
  /** `data` for a verdict or a judgement, else what there was instead; `lost` if the connection broke. */
  readonly outcome: string;
  readonly proceeds: boolean;
}

const MAX_UNDER_WAY = 2_000;
const GIVE_UP_MS = 15_000;
const TICK_MS = 10;
/** Solving another challenge takes a second. */
const SOLVE_MS = 1_000;
/** Between two noises at the service, in ms. The least is more than the 300 ms between two probes, and than a repetition takes. */
const NOISE = { least: 1_500, most: 3_000 };
const FINGERPRINT = `query Soak($token: String!) { deviceFingerprint(token: $token) { __typename } }`;
const CAPTCHA = `mutation Soak($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) { __typename proceed attestation ... on CaptchaIndeterminate { message } }
}`;

// Safe: `startLoad` gives this.
const { who, urls, rate, ms, noise } = workerData as Job;
const agent = new Agent({ connections: 512, headersTimeout: GIVE_UP_MS, bodyTimeout: GIVE_UP_MS });
const headers = { 'content-type': 'application/json', 'router-authorization': ROUTER_SECRET };
const samples: Sample[] = [];
let underWay = 0;
let replicas = urls;
let turn = 0;
const channel = new BroadcastChannel('replicas');
channel.onmessage = ({ data }) => {
  replicas = data;
};

/** The replica for the next request. */
function nextUrl(): URL {
  turn += 1;
  return new URL(replicas[turn % replicas.length] ?? '');
}

/** What the audience of attestations does (schema/README.md, Verifying an attestation). */
const keys = createRemoteJWKSet(new URL('http://any-replica'), {
  [customFetch]: (_url, options) => fetch(new URL('/.well-known/jwks.json', nextUrl()), options),
});
const pinned = { algorithms: ['ES256'], typ: 'captcha-attestation+jwt', issuer: ISSUER, audience: AUDIENCE.id };

/** Does the audience accept the proof in this answer? */
function isProven(answer: string): Promise<boolean> {
  const [, attestation = ''] = /"attestation":"([^"]+)"/.exec(answer) ?? [];
  return jwtVerify(attestation, keys, pinned).then(
    () => true,
    () => false,
  );
}

async function post(body: string, person?: string) {
  underWay += 1;
  let [text, outcome] = ['', 'lost'];
  try {
    const { origin, pathname: path } = nextUrl();
    const all = person === undefined ? headers : { ...headers, 'x-user-id': person };
    text = await (await agent.request({ origin, path, method: 'POST', headers: all, body })).body.text();
    outcome = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? /"__typename":"(\w+)"/.exec(text)?.[1] ?? 'unreadable';
    if (outcome === 'CaptchaPassed' || outcome === 'DeviceFingerprint') outcome = 'data';
  } catch {
    // A connection that breaks is an answer like any other.
  }
  underWay -= 1;
  const proceeds = text.includes('"proceed":true');
  if (proceeds && person !== undefined && !(await isProven(text))) outcome = 'proof refused';
  return { sample: { at: Date.now(), outcome, proceeds }, text };
}

let visits = 0;
let proofs = 0;

/** A request that nobody sent before. */
function question(isCaptcha: boolean): string {
  proofs += 1;
  const proof = `proof-${threadId}-${proofs}`;
  return isCaptcha
    ? JSON.stringify({
        query: CAPTCHA,
        variables: { input: { ...solved(proof), audience: AUDIENCE.id, action: AUDIENCE.actions[0] } },
      })
    : JSON.stringify({ query: FINGERPRINT, variables: { token: proof } });
}

/**
 * One person, who tries once more if the answer asks for it; every second one has a captcha verified, and the others ask about a
 * device.
 */
async function visit(): Promise<void> {
  visits += 1;
  const isCaptcha = visits % 2 === 0;
  const person = `person-${visits}`;
  let { sample, text } = await post(question(isCaptcha), person);
  if (sample.outcome !== 'data' && /"retryable":true|new challenge|try again/.test(text)) {
    await sleep(SOLVE_MS);
    ({ sample } = await post(question(isCaptcha), person));
  }
  samples.push(sample);
}

async function attack(body: string): Promise<void> {
  if (underWay < MAX_UNDER_WAY) samples.push((await post(body)).sample);
}

/** One attempt, chosen at random. Gives how many requests it was. */
function attempt(): number {
  const bodies = ATTACKS[Math.floor(Math.random() * ATTACKS.length)]?.() ?? [];
  for (const body of bodies) void attack(body);
  return bodies.length;
}

/** Closes the idle connections of the service, or has it fail for a moment, and sends captchas at that moment. */
async function makeNoise(end: number): Promise<void> {
  while (performance.now() < end) {
    await sleep(NOISE.least + Math.random() * (NOISE.most - NOISE.least));
    const made = fetch(`${noise}/noise/${Math.random() < 0.5 ? 'burst' : 'close-idle'}`);
    for (let count = 0; count < 10; count += 1) void attack(bogus());
    await (await made).text();
  }
}

// The bot has solved one challenge itself.
if (who === 'bot') await post(SPEND);
const people: Promise<void>[] = [];
let last = performance.now();
const end = last + ms;
const noises = noise === undefined ? undefined : makeNoise(end);
let budget = 1;
for (let now = last; now < end; now = performance.now()) {
  budget += ((now - last) * rate) / 1_000;
  last = now;
  while (budget >= 1) {
    if (who === 'people') people.push(visit());
    budget -= who === 'people' ? 1 : attempt();
  }
  await sleep(TICK_MS);
}
await Promise.all([...people, noises]);
while (underWay > 0) await sleep(TICK_MS);
parentPort?.postMessage(samples);
channel.close();
await agent.close();
