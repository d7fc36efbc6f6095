import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { JsonResponse } from './http.ts';

export const CHALLENGES_PATH = '/sandbox/challenges';
export const FAULTS_PATH = '/sandbox/faults';
export const KEYS_PATH = '/sandbox/keys';

const FAULT = z.strictObject({
  service: z.enum(['fingerprint', 'captcha']),
  delay: z.coerce.number().min(0).max(60_000).default(0),
  down: z.stringbool().default(false),
  seconds: z.coerce.number().min(0).max(3_600).default(60),
});
const KEY = z.strictObject({ id: z.string(), key: z.string().regex(/^[\x21-\x7e]{1,256}$/) });

/** The faults of one region, by service. `untilMs` is on the clock of `performance.now()`. */
export type Faults = Map<string, { readonly delay: number; readonly down: boolean; readonly untilMs: number }>;

/** Makes a service slow or unreachable for some seconds, and replaces its earlier fault. */
export function setFault(form: unknown, faults: Faults): JsonResponse {
  const { data, error } = FAULT.safeParse(form);
  if (!data) return invalid(z.prettifyError(error));
  faults.set(data.service, { ...data, untilMs: performance.now() + data.seconds * 1_000 });
  return { status: 200, body: data };
}

/** Waits as long as the fault of a service demands. False if the service is down. */
export async function awaitFault(service: string, faults: Faults): Promise<boolean> {
  const fault = faults.get(service);
  if (!fault || fault.untilMs <= performance.now()) return true;
  // Without `ref`, so that a delay does not outlast a sandbox that was stopped.
  if (fault.delay > 0) await sleep(fault.delay, undefined, { ref: false });
  return !fault.down;
}

/** Replaces the secret of an application or the key of a captcha id, as in a rotation. */
export function setKey(form: unknown, keys: Map<string, string>): JsonResponse {
  const { data, error } = KEY.safeParse(form);
  if (!data) return invalid(z.prettifyError(error));
  if (!keys.has(data.id)) return invalid('id: expected a public key or captcha id of the sandbox');
  keys.set(data.id, data.key);
  return { status: 200, body: { id: data.id } };
}

const invalid = (problem: string): JsonResponse => ({ status: 400, body: { problem } });
