import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { contenderNamed, OURS_NAME } from './contenders.ts';
import { DECIDED, SEALED } from './documents.ts';
import { ROUTER_HEADERS } from './production.ts';
import { sealedJudgement } from './sealed.ts';
import type { Size } from './sizes.ts';
import { median } from './statistics.ts';
import type { Testbed } from './testbed.ts';
import { token } from './tokens.ts';
import { workloadNamed } from './workloads.ts';

/** The time of the first request that a process gets after it said that it is ready, in ms. */
interface FirstRequest {
  readonly median: number;
  readonly most: number;
  /** Of the request after it, which is new as well but finds all code loaded: what the machine and this client take. */
  readonly next: number;
}

/** By root field. */
export type FirstRequests = Readonly<Record<string, FirstRequest>>;

const READY_EVERY_MS = 5;
const READY_TRIES = 2_000;

/** A request for each root field, each with a document that no cache knows. */
const BODIES: Readonly<Record<string, (number: number) => string>> = {
  deviceFingerprint: (number) => workloadNamed('new').body(number),
  signalCatalogue: (number) => query(`query New${number} { signalCatalogue { code level confidence effect meaning } }`),
  '_entities, DeviceFingerprint': (number) => query(DECIDED.replace('Devices', `New${number}`), references(number)),
  // One reference, as everywhere here. What a hundred cost is another goal.
  '_entities, DeviceJudgement': (number) => query(SEALED.replace('Sealed', `New${number}`), sealedReference(number)),
  _service: (number) => query(`query New${number} { _service { sdl } }`),
  validateCaptcha: (number) => workloadNamed('attested').body(number),
  'validateCaptcha without attestation': (number) => workloadNamed('captcha').body(number),
};

function query(text: string, variables: object = {}): string {
  return JSON.stringify({ query: text, variables });
}

function references(number: number): object {
  return { representations: [{ __typename: 'DeviceFingerprint', token: token(number) }] };
}

function sealedReference(number: number): object {
  return { representations: [{ __typename: 'DeviceJudgement', sealed: sealedJudgement(number) }] };
}

/** Starts a fresh process for each root field several times. Rejects if an answer has no data. */
export async function measureFirstRequests(testbed: Testbed, { starts }: Size): Promise<FirstRequests> {
  const measured = new Map<string, { first: number[]; next: number[] }>();
  for (let round = 0; round < starts; round += 1) {
    for (const [name, body] of Object.entries(BODIES)) {
      const { first, next } = await timesOf(testbed, name, body);
      const known = measured.get(name) ?? { first: [], next: [] };
      measured.set(name, { first: [...known.first, first], next: [...known.next, next] });
    }
  }
  return Object.fromEntries(
    [...measured].map(([name, { first, next }]) => [
      name,
      { median: median(first), most: Math.max(...first), next: median(next) },
    ]),
  );
}

async function timesOf(testbed: Testbed, name: string, body: (number: number) => string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { url, end } = await testbed.start(contenderNamed(OURS_NAME));
  try {
    // This client's own code has to be loaded too, and its connection open.
    await ready(agent, new URL('/readyz', url).href);
    await post(agent, `${testbed.upstreamUrl}/warm`, '{"device_token":""}');
    const times: number[] = [];
    for (const number of [1, 2]) {
      const start = performance.now();
      const text = await post(agent, url, body(number));
      times.push(performance.now() - start);
      if (!/^\{"data":\{"\w+":[^n]/.test(text)) throw new Error(`${name}: expected data first, but got ${text}`);
    }
    const [first = Number.NaN, next = Number.NaN] = times;
    return { first, next };
  } finally {
    agent.destroy();
    await end();
  }
}

async function ready(agent: Agent, url: string): Promise<void> {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if ((await send(agent, url, 'GET')).trim() === 'ready') return;
    await sleep(READY_EVERY_MS);
  }
  throw new Error(`expected ${url} to become ready, but it did not`);
}

const post = (agent: Agent, url: string, body: string) => send(agent, url, 'POST', body);

function send(agent: Agent, url: string, method: string, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...ROUTER_HEADERS,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = httpRequest(url, { method, agent, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      answer.on('end', () => resolve(text)).on('error', reject);
    });
    sent.on('error', reject).end(body);
  });
}
