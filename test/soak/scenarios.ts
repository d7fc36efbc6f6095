import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { scrape } from '../observability/exposition.ts';
import type { Job, Sample } from './load.ts';
import { startServer, startThread, textAt } from './processes.ts';
import type { Addresses } from './upstream.ts';

/** A bot, and which promises were kept beside it. */

/** A promise beside what was seen of it. */
export interface Finding {
  readonly promise: string;
  readonly promised: string;
  readonly measured: string;
  readonly kept: boolean;
}

const shown = (value: number) => String(Math.round(value * 100) / 100);

/** A figure may be no more than this. NaN is no figure, and keeps no promise. */
function atMost(promise: string, limit: number, value: number, unit = ''): Finding {
  const measured = `${shown(value)}${unit}`;
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

// Safe: this is what that script sends.
const startLoad = (job: Job) => startThread('load.ts', job) as Promise<readonly Sample[]>;

const ASK_EVERY_MS = 250;
const READY_MS = 1_000;
const WARM_UP_MS = 3_000;
/** Memory of the container in `deploy/kubernetes`, half of which is the heap, in MiB. */
const CONTAINER_MIB = 512;

/** A bot that tries every attack at random beside people, while the services are well but the captcha service is noisy. */
export async function bot(ms: number): Promise<Finding[]> {
  // Safe: this is what that script sends.
  const addresses = (await startThread('upstream.ts')) as Addresses;
  const server = await startServer(addresses, { NODE_OPTIONS: `--max-old-space-size=${CONTAINER_MIB / 2}` });
  const { pid, admin } = server;
  const url = server.url.href;
  // In its first seconds a process is slow, because V8 has optimised nothing yet.
  await startLoad({ who: 'people', url, ms: WARM_UP_MS, rate: 100 });
  const waits = watch(admin, ms);
  const [attacked, visits] = await Promise.all([
    startLoad({ who: 'bot', url, ms, rate: 100, noise: addresses.captcha }),
    startLoad({ who: 'people', url, ms, rate: 10 }),
  ]);
  const { samples } = await scrape(`${admin}/metrics`);
  const outages = samples.filter(({ name }) => name === 'device_trust_upstream_outages_total');
  const answered = visits.filter(({ outcome }) => outcome !== 'OVERLOADED');
  const refusedPercent = 100 * (1 - answered.length / visits.length);
  // As Linux counts it.
  const peakKib = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const findings = [
    none('bot: its captchas that proceed while the service is well', attacked, ({ proceeds }) => proceeds),
    // Without any series it fails.
    atMost(
      'bot: outages that it makes the server confirm',
      0,
      outages.map(({ value }) => value).reduce((a, b) => a + b),
    ),
    none('bot: people who proceed without a verdict', visits, isUnverified),
    none('bot: people without their verdict, with one repetition where the answer asks for it', answered, isLost),
    atMost('bot: people refused twice because the bot fills our queue', 10, refusedPercent, ' %'),
    atMost('bot: slowest answer of /readyz on the admin port', READY_MS, await waits, ' ms'),
    atMost('bot: resident memory at its highest', CONTAINER_MIB, peakKib / 1_024, ' MiB'),
  ];
  await server.end();
  return findings;
}

/** Asks for /readyz as an orchestrator does. What is not `ready` counts as a minute. Gives the longest wait, in ms. */
async function watch(admin: string, ms: number): Promise<number> {
  let longest = 0;
  for (const end = performance.now() + ms; performance.now() < end; await sleep(ASK_EVERY_MS)) {
    const asked = performance.now();
    const text = await textAt(`${admin}/readyz`).catch(() => 'none');
    longest = Math.max(longest, text === 'ready\n' ? performance.now() - asked : 60_000);
  }
  return longest;
}
