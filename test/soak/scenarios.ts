import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../support/redis.ts';
import { captchaPauses, FIRST_KEYS, keyRotation, nameEvents, spread, storeDies } from './events.ts';
import type { Job, Sample } from './load.ts';
import { CAPTCHA_IDS, FINGERPRINT_HOSTS, type Replica, startServer, startThread } from './processes.ts';
import type { Ports } from './upstream.ts';
import { lasting, watch } from './watch.ts';

/** A company's day: people, a bot, and what else happens; and which promises were kept. */

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

/** These, and no others. */
function same(promise: string, expected: readonly string[], seen: readonly string[]): Finding {
  const textOf = (all: readonly string[]) => all.toSorted().join(', ') || 'none';
  return { promise, promised: textOf(expected), measured: textOf(seen), kept: textOf(expected) === textOf(seen) };
}

// Safe: this is what that script sends.
const startLoad = (job: Job) => startThread('load.ts', job) as Promise<readonly Sample[]>;

const READY_MS = 1_000;
const WARM_UP_MS = 3_000;
/** Memory of the container in `deploy/kubernetes`, half of which is the heap, in MiB. */
const CONTAINER_MIB = 512;
/** More than all calls, so that the store is asked and refuses none. */
const QUOTA = '{"perSecond":100000}';

interface Options {
  readonly ms: number;
  readonly hasEvents: boolean;
  /** The library that makes names move, and whether there is a store; without either, its events are left out. */
  readonly nssWrapper: string | undefined;
  readonly hasStore: boolean;
}

/** A bot that tries every attack at random beside people, while the captcha service is noisy, and the events. */
export async function companyDay({ ms, hasEvents, nssWrapper, hasStore }: Options): Promise<Finding[]> {
  // Safe: this is what that script sends.
  const ports = (await startThread('upstream.ts')) as Ports;
  const captchaUrl = `http://127.0.0.1:${ports.captcha}`;
  const store = hasEvents && hasStore ? await startRedis() : undefined;
  const folder = mkdtempSync(join(tmpdir(), 'device-trust-soak-'));
  process.once('exit', () => {
    void store?.kill();
    rmSync(folder, { recursive: true });
  });
  const hosts = join(folder, 'hosts');
  const names = hasEvents && nssWrapper ? nameEvents(ports, hosts) : undefined;
  const env = {
    NODE_OPTIONS: `--max-old-space-size=${CONTAINER_MIB / 2}`,
    FINGERPRINT_URL_EU: `http://${names ? 'localhost' : FINGERPRINT_HOSTS[0]}:${ports.fingerprint}`,
    CAPTCHA_URL_EU: captchaUrl,
    ...(names && nssWrapper && { LD_PRELOAD: nssWrapper, NSS_WRAPPER_HOSTS: hosts }),
    ...(store && { QUOTA_STORE_URL: store.url, FINGERPRINT_QUOTA: QUOTA, CAPTCHA_QUOTA: QUOTA }),
  };
  const alarms = new Set<string>();
  const start = (keys: readonly object[]) =>
    startServer({ ...env, ATTESTATION_KEYS: JSON.stringify(keys) }, (about) => alarms.add(about));
  const replicas: Replica[] = [await start(FIRST_KEYS)];
  const urls = replicas.map(({ url }) => url.href);

  const pauses: (readonly [number, number])[] = [];
  const events = [
    ...(store ? [() => storeDies(store)] : []),
    async () => void pauses.push(await captchaPauses(captchaUrl)),
    keyRotation(replicas, start),
  ];
  // In its first seconds a process is slow, because V8 has optimised nothing yet.
  await startLoad({ who: 'people', urls, ms: WARM_UP_MS, rate: 100 });
  const [attacked, visits, seen] = await Promise.all([
    startLoad({ who: 'bot', urls, ms, rate: 100, noise: captchaUrl }),
    startLoad({ who: 'people', urls, ms, rate: 10 }),
    watch(replicas, ms),
    hasEvents && spread(ms, events),
    names && spread(ms, names.events),
  ]);
  for (const replica of replicas) await replica.end();
  await store?.stop();

  const isInPause = ({ at }: Sample) => pauses.some(([from, to]) => at >= from && at <= to);
  const isLost = (sample: Sample) =>
    sample.outcome !== 'data' && !(isInPause(sample) && sample.outcome === 'CaptchaIndeterminate');
  const answered = visits.filter(({ outcome }) => outcome !== 'OVERLOADED');
  const refusedPercent = 100 * (1 - answered.length / visits.length);
  const faults = pauses.flatMap(() => [
    `upstream_health captcha EU ${CAPTCHA_IDS.default} refused`,
    ...(store ? ['quota_store_away'] : []),
  ]);
  const unpaused = (samples: readonly Sample[]) => samples.filter((sample) => !isInPause(sample));
  const budget = attacked.filter((sample) => sample.proceeds && isInPause(sample)).length;
  return [
    none('bot: its captchas that proceed while the service is well', unpaused(attacked), ({ proceeds }) => proceeds),
    // Twice the one challenge that it has solved (schema/README.md, Captchas without a verdict).
    atMost('bot: its captchas that proceed while the captcha id is paused', 2 * pauses.length, budget),
    none(
      'people who proceed without a verdict',
      unpaused(visits),
      ({ proceeds, outcome }) => proceeds && outcome !== 'data',
    ),
    none('people without their answer or proof, with one repetition where the answer asks for it', answered, isLost),
    atMost('people refused twice because the bot fills our queue', 10, refusedPercent, ' %'),
    ...(names ? [atMost('calls to an address that its name has left', 0, names.seen.callsAtOld)] : []),
    same('faults in the series of the alerts', faults, lasting(seen.faults)),
    same('what the log asks to act on', pauses.length > 0 ? [CAPTCHA_IDS.default] : [], [...alarms]),
    atMost('slowest answer of /readyz on the admin port', READY_MS, seen.slowestMs, ' ms'),
    atMost('resident memory at its highest', CONTAINER_MIB, seen.peakMib, ' MiB'),
  ];
}
