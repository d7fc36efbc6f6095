import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey } from '../../src/captcha/attestation.ts';
import type { startRedis } from '../support/redis.ts';
import { times } from '../support/times.ts';
import { FINGERPRINT_HOSTS, type Replica, textAt } from './processes.ts';
import type { Ports } from './upstream.ts';

/** What happens to a company besides a bot. */

/** Each event happens once in this time, and none takes longer than that, in ms. */
const [ROUND_MS, LONGEST_MS] = [240_000, 30_000];
/** A name is refreshed within 20 s (deploy/README.md, Protections), and a call that has begun ends within 3 s. */
const [REFRESHED_MS, CALL_MS] = [23_000, 3_000];
/** Nobody listens there. */
const DEAD_HOST = '127.0.0.9';
const [STORE_AWAY_MS, PAUSED_MS] = [10_000, 15_000];
/** For how long the old and the new replica serve together, and requests still come to the old one after SIGTERM, in ms. */
const [TOGETHER_MS, LEAVING_MS] = [5_000, 1_000];

type Happen = () => Promise<void>;

/** Lets each event happen at a random moment of its own part of the time. */
export async function spread(ms: number, events: readonly Happen[]): Promise<void> {
  const all = times(Math.max(1, Math.floor(ms / ROUND_MS)), () => events).flat();
  const [start, part] = [performance.now(), ms / all.length];
  for (const [at, happen] of all.entries()) {
    const moment = start + at * part + Math.random() * (part - LONGEST_MS);
    await sleep(Math.max(0, moment - performance.now()));
    await happen();
  }
}

/** The fingerprint service moves to its other host, and a dead address is beside its own. */
export function nameEvents({ fingerprint }: Ports, hostsFile: string) {
  let [current, other] = FINGERPRINT_HOSTS;
  const name = (...hosts: string[]) => writeFileSync(hostsFile, hosts.map((host) => `${host} localhost\n`).join(''));
  const callsAt = async (host: string) => Number(await textAt(`http://${host}:${fingerprint}/noise/count`));
  const seen = { callsAtOld: 0 };
  const move: Happen = async () => {
    [current, other] = [other, current];
    name(current);
    await sleep(REFRESHED_MS);
    const before = await callsAt(other);
    await sleep(CALL_MS);
    seen.callsAtOld += (await callsAt(other)) - before;
  };
  const breakAddress: Happen = async () => {
    name(DEAD_HOST, current);
    await sleep(REFRESHED_MS + CALL_MS);
    name(current);
  };
  name(current);
  return { events: [move, breakAddress], seen };
}

/** The store answers nothing, and its connections stay open: what its clients see of a host that has died. */
export async function storeDies({ pause, resume }: Awaited<ReturnType<typeof startRedis>>): Promise<void> {
  pause();
  await sleep(STORE_AWAY_MS);
  resume();
}

/** The captcha service pauses the captcha id of people. Gives the time from its first to its last answer, as `Date.now()` says it. */
export async function captchaPauses(captchaUrl: string): Promise<readonly [number, number]> {
  const start = Date.now();
  await textAt(`${captchaUrl}/noise/pause`);
  await sleep(PAUSED_MS);
  await textAt(`${captchaUrl}/noise/resume`);
  await sleep(CALL_MS);
  return [start, Date.now()];
}

export const FIRST_KEYS = [generateKey('active'), generateKey('next')] as const;

/** The keys of attestations rotate by a rolling restart. For a while people and the bot use both replicas in turn. */
export function keyRotation(replicas: Replica[], start: (keys: readonly object[]) => Promise<Replica>): Happen {
  let [active, next] = FIRST_KEYS;
  const channel = new BroadcastChannel('replicas');
  const tell = () => channel.postMessage(replicas.map(({ url }) => url.href));
  return async () => {
    // The second restart of a rotation, and the first one of the next (deploy/README.md, Secrets).
    const retired = { ...active, state: 'retired' };
    [active, next] = [{ ...next, state: 'active' }, generateKey('next')];
    replicas.push(await start([active, next, retired]));
    tell();
    await sleep(TOGETHER_MS);
    const ended = replicas.shift()?.end();
    await sleep(LEAVING_MS);
    tell();
    await ended;
  };
}
