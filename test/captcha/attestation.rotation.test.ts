import { expect, onTestFinished, test, vi } from 'vitest';
import { AttestationIssuer, type AttestationKey, generateKey } from '../../src/captcha/attestation.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { readPage } from '../docs/markdown.ts';
import { verifyAttestation } from '../support/attestations.ts';
import { INPUT } from './support.ts';

const CAPTCHA = { captchaId: 'a'.repeat(32), captchaKey: 'key' };

/**
 * A rotation of the signing keys on a simulated clock, step by step as `deploy/README.md` says, in the worst case that it
 * allows: the files reach one replica at once and the other one a minute later, caches of HTTP keep the keys for as long as
 * `max-age` allows, verifiers keep what they get for 10 minutes and never ask sooner, and attestations live for 4 minutes.
 * Every attestation is verified when it is signed and when it is about to expire, with all keys that a verifier may have.
 */

const MINUTE = 60_000;
const PROPAGATION_MS = MINUTE;
const MAX_AGE_MS = 300_000;
const VERIFIER_CACHE_MS = 10 * MINUTE;
const LIFETIME_SECONDS = 240;
const STEP_MS = 15_000;

/** The minutes to wait after each step but the last, as the page says. */
const documentedWaits = readPage('deploy/README.md')
  .rowsOf('step', 'write into `ATTESTATION_KEYS`', 'then wait')
  .map(([, , wait = '']) => Number(/^(\d+) minutes$/.exec(wait)?.[1] ?? Number.NaN));

/** Runs a rotation, and gives how many verifications there were and why any of them failed. */
async function rotate(steps: readonly { readonly atMs: number; readonly keys: readonly AttestationKey[] }[]) {
  const startedAt = Date.parse('2026-03-01T00:00:00Z');
  let now = startedAt;
  onTestFinished(() => void vi.useRealTimers());
  const [first] = steps;
  if (!first) throw new Error('expected a step, but got none');
  const replicas = [0, PROPAGATION_MS].map((delayMs) => {
    const settings = {
      issuer: 'https://device-trust.sandbox',
      lifetimeSeconds: LIFETIME_SECONDS,
      audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'optional' as const }],
    };
    const captchas = { find: () => CAPTCHA };
    const attesting = { settings, keys: first.keys };
    const issuer = new AttestationIssuer(attesting, { captchas, metrics: createMetrics() });
    return { delayMs, issuer, done: 1 };
  });
  /** When each version of the keys was served for the last time, by either replica. */
  const served = new Map<string, number>();
  /** The versions that some verifier may still have: a cache of HTTP and the verifier's own can follow each other. */
  const inUse = () => {
    const oldest = now - MAX_AGE_MS - VERIFIER_CACHE_MS;
    return [...served].filter(([, lastMs]) => lastMs > oldest).map(([keys]) => keys);
  };

  /** Attestations that are verified in the last second of their lives. */
  let held: { readonly attestation: string; readonly untilMs: number }[] = [];
  const refusals: string[] = [];
  let verifications = 0;
  const verify = async (attestation: string, atMs = now) => {
    for (const keys of inUse()) {
      verifications += 1;
      await verifyAttestation(attestation, keys, { currentDate: new Date(atMs) }).catch((error: unknown) => {
        refusals.push(`after ${(now - startedAt) / MINUTE} minutes: ${error}`);
      });
    }
  };
  const last = steps.at(-1)?.atMs ?? 0;
  for (; now < startedAt + last + 7 * MINUTE; now += STEP_MS) {
    vi.useFakeTimers({ toFake: ['Date'], now });
    for (const replica of replicas) {
      const next = steps[replica.done];
      if (next && now >= startedAt + next.atMs + replica.delayMs) {
        replica.issuer.replaceKeys(next.keys);
        replica.done += 1;
      }
      served.set(String(replica.issuer.jwks), now);
    }
    for (const replica of replicas) {
      const input = { ...INPUT, audience: 'orders', action: 'placeOrder' };
      const details = { lotNumber: INPUT.lotNumber, usedType: null, userIp: null, scene: null, referer: null };
      const verdict = { __typename: 'CaptchaPassed', proceed: true, details } as const;
      const attestation = String(await replica.issuer.check(input, undefined)?.attest(verdict));
      await verify(attestation);
      held.push({ attestation, untilMs: now + (LIFETIME_SECONDS - 1) * 1_000 });
    }
    const ending = held.filter(({ untilMs }) => untilMs < now + STEP_MS);
    held = held.filter(({ untilMs }) => untilMs >= now + STEP_MS);
    for (const { attestation, untilMs } of ending) await verify(attestation, untilMs);
  }
  return { verifications, refusals };
}

const old = generateKey('active');
const fresh = generateKey('next');
const STAGES: readonly (readonly AttestationKey[])[] = [
  [old],
  [old, fresh],
  [
    { ...old, state: 'retired' },
    { ...fresh, state: 'active' },
  ],
  [{ ...fresh, state: 'active' }],
];
/** The stages, with these minutes between them; the first change comes after 6 minutes. */
const timed = (waits: readonly number[]) => {
  let atMs = 0;
  return STAGES.map((keys, index) => {
    atMs += ([0, 6, ...waits][index] ?? 0) * MINUTE;
    return { atMs, keys };
  });
};

test('a rotation refuses nobody with the documented times', async () => {
  expect(documentedWaits).toEqual([expect.any(Number), expect.any(Number), Number.NaN]);
  const { verifications, refusals } = await rotate(timed(documentedWaits));
  expect(refusals).toEqual([]);
  expect(verifications).toBeGreaterThan(1_000);
}, 30_000);
