import { bot } from './bot.ts';
import { clock } from './clock.ts';
import { corroboration } from './corroboration.ts';
import { eventLoop } from './event-loop.ts';
import type { Scenario } from './findings.ts';
import { lookups } from './lookups.ts';
import { memory } from './memory.ts';
import { outage } from './outage.ts';
import { overloadCaptcha, overloadFingerprint } from './overload.ts';
import { replicas } from './replicas.ts';
import { staleSockets } from './stale-sockets.ts';
import { strangers } from './strangers.ts';
import { throttling } from './throttling.ts';
import { worstRequest } from './worst-request.ts';

/** In the order of the run. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'overload-fingerprint': overloadFingerprint,
  'overload-captcha': overloadCaptcha,
  outage,
  corroboration,
  throttling,
  lookups,
  clock,
  'stale-sockets': staleSockets,
  strangers,
  'worst-request': worstRequest,
  replicas,
  memory,
  'event-loop': eventLoop,
  bot,
};

/** Those that put little load on the machine, and so run at the same time. */
const LIGHT: ReadonlySet<string> = new Set(['corroboration', 'throttling', 'lookups', 'clock', 'stale-sockets']);

/** The scenarios with these names, in the order of the run: those of a group run at the same time. */
export function groupsOf(names: readonly string[]): readonly (readonly string[])[] {
  const light = names.filter((name) => LIGHT.has(name));
  const others = names.filter((name) => !LIGHT.has(name)).map((name) => [name]);
  return light.length > 0 ? [light, ...others] : others;
}
