import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job, Sample } from './load.ts';
import { type Server, startScript, startServer, startUpstream, textAt } from './processes.ts';

/** A bot and an outage, and which promises were kept in them. */

/** A promise beside what was seen of it. */
export interface Finding {
  readonly promise: string;
  readonly promised: string;
  readonly measured: string;
  readonly kept: boolean;
}

const shown = (value: number) => String(Math.round(value * 100) / 100);

/** A figure may be no more than this. NaN is no figure, and keeps no promise. */
function atMost(promise: string, limit: number, value: number, unit = '', more = ''): Finding {
  const measured = `${shown(value)}${unit}${more && ` (${more})`}`;
  return { promise, promised: `≤ ${shown(limit)}${unit}`, measured, kept: value <= limit };
}

/** None of these may be like that. Without any, nothing was seen, and no promise was kept. */
function none(promise: string, samples: readonly Sample[], isBad: (sample: Sample) => boolean): Finding {
  const bad = samples.filter(isBad);
  const measured = `${bad.length} of ${samples.length}${bad.length > 0 ? `, such as ${JSON.stringify(bad[0])}` : ''}`;
  return { promise, promised: 'none', measured, kept: bad.length === 0 && samples.length > 0 };
}

const isLost = ({ outcome }: Sample) => outcome !== 'data';
/** May it go on although the service gave no verdict? */
const isUnverified = (sample: Sample) => sample.proceeds && isLost(sample);

// Safe: this is what that script answers.
const startLoad = (job: Job) => startScript('load.ts').ask(job) as Promise<readonly Sample[]>;

const ASK_EVERY_MS = 250;
const READY_MS = 1_000;
/** Memory of the container in `deploy/kubernetes`, half of which is the heap, in MiB. */
const CONTAINER_MIB = 512;

/** A bot that tries every attack at random beside people, while the services are well but the captcha service is noisy. */
export async function bot(ms: number): Promise<Finding[]> {
  const { addresses } = await startUpstream();
  const server = await startServer(addresses, { NODE_OPTIONS: `--max-old-space-size=${CONTAINER_MIB / 2}` });
  const url = `${server.origin}/graphql`;
  const waits = watch(server, ms);
  const [attacked, visits] = await Promise.all([
    startLoad({ who: 'bot', url, ms, rate: 100, noise: addresses.captcha }),
    startLoad({ who: 'people', url, ms, rate: 10, repeats: true }),
  ]);
  const outages = await server.metric('device_trust_upstream_outages_total');
  const findings = [
    none('bot: its captchas that proceed while the service is well', attacked, ({ proceeds }) => proceeds),
    atMost('bot: outages that it makes the server confirm', 0, outages),
    none('bot: people who proceed without a verdict', visits, isUnverified),
    none('bot: people without their verdict, with one repetition where the answer asks for it', visits, isLost),
    atMost('bot: slowest answer of /readyz on the admin port', READY_MS, await waits, ' ms'),
    atMost('bot: resident memory at its highest', CONTAINER_MIB, peakMiB(server), ' MiB'),
  ];
  await server.end();
  return findings;
}

/** Asks for /readyz as an orchestrator does. What is not `ready` counts as a minute. Gives the longest wait, in ms. */
async function watch({ admin }: Server, ms: number): Promise<number> {
  let longest = 0;
  for (const end = performance.now() + ms; performance.now() < end; await sleep(ASK_EVERY_MS)) {
    const asked = performance.now();
    const text = await textAt(`${admin}/readyz`).catch(() => 'none');
    longest = Math.max(longest, text === 'ready\n' ? performance.now() - asked : 60_000);
  }
  return longest;
}

/** As Linux counts it. */
function peakMiB({ pid }: Server): number {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

const PEOPLE_RATE = 50;
/** How long all is well before something happens. */
const CALM_MS = 2_000;
/** From the beginning of an outage until everybody may proceed, and from its end until nobody may without a verdict, in ms. */
const [KNOWN_MS, OVER_MS] = [3_000, 2_000];
const AFTER_MS = OVER_MS + 2_000;

/** Both services are down: the captcha service refuses connections, and the fingerprint service resets them. */
export async function outage(ms: number): Promise<Finding[]> {
  const { addresses, behave, arrivals } = await startUpstream();
  const server = await startServer(addresses);
  // Twice as many may proceed within a minute as have passed before: in all of the outage, as people keep coming.
  const calmMs = CALM_MS + ms / 2;
  const load = startLoad({
    who: 'people',
    url: `${server.origin}/graphql`,
    rate: PEOPLE_RATE,
    ms: calmMs + ms + AFTER_MS,
  });
  await sleep(calmMs);
  const from = Math.max(await behave('captcha', 'refused'), await behave('fingerprint', 'reset'));
  await sleep(ms);
  const confirmed = await server.metric('device_trust_upstream_health', 'state="outage"');
  const to = Math.max(await behave('captcha', 'good'), await behave('fingerprint', 'good'));
  const samples = await load;
  const { pk_soak: calls = [], probes = [] } = await arrivals('fingerprint');

  const captchas = samples.filter(({ question }) => question === 'captcha');
  const isKnown = ({ at }: Sample) => at >= from + KNOWN_MS && at < to;
  const isWell = ({ at, respondedAt }: Sample) => respondedAt < from || at > to + OVER_MS;
  const within = (times: readonly number[]) => times.filter((at) => at >= from + KNOWN_MS && at < to).length;
  const seconds = Math.ceil((to - from - KNOWN_MS) / 1_000);
  const findings: Finding[] = [
    // One of each service, while the paused and the deleted captcha id are no outage of their own.
    atMost('outage: services whose outage is not confirmed', 0, 2 - Math.min(2, confirmed)),
    none('outage: people who do not proceed from 3 s on', captchas.filter(isKnown), ({ proceeds }) => !proceeds),
    none(
      'outage: people who proceed without a verdict while the service is well',
      captchas.filter(isWell),
      isUnverified,
    ),
    none(
      'outage: judgements that fail in another way than UPSTREAM_UNAVAILABLE from 3 s on',
      samples.filter((sample) => sample.question === 'fingerprint' && isKnown(sample)),
      ({ outcome }) => outcome !== 'UPSTREAM_UNAVAILABLE',
    ),
    atMost('outage: calls that reach the fingerprint service from 3 s on, one a second', seconds + 1, within(calls)),
    atMost('outage: probes that reach it, one a second', seconds + 1, within(probes)),
    none('outage: requests that fail before it or from 2 s after its end on', samples.filter(isWell), isLost),
  ];
  await server.end();
  return findings;
}
