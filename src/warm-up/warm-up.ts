import type { Logger } from 'pino';
import type { Config } from '../config/variables.ts';
import { framesOf } from '../errors.ts';
import { requestsOf } from './requests.ts';
import { openStage } from './stage.ts';

/**
 * How often everything is asked. V8 compiles a function when it is called for the first time, and again for speed when it was
 * called often. Fewer rounds leave more of that to the first requests, and more of them delay the start.
 */
const ROUNDS = 8;

/** After this time no further round begins, in ms: a machine that is slow or busy should not start much later as well. */
const ENOUGH_MS = 1_500;
/** The warm-up has failed if it has not ended by then, in ms. */
const LIMIT_MS = 10_000;

interface Options {
  /** Where it listens. Only this machine may reach it. */
  readonly host?: string;
  readonly limitMs?: number;
}

/**
 * Asks a second instance of the app everything that the graph has, over HTTP, so that the first requests of callers find all
 * code loaded and compiled. That instance has throw-away secrets and keys, the sandbox as its upstreams, and a log and
 * metrics that nobody reads, so nothing of it reaches a service, a caller or an operator. It is gone when this resolves. A
 * failure is logged, and is no reason not to start.
 */
export async function warmUp(
  config: Pick<Config, 'attestation'>,
  log: Logger,
  { host = '127.0.0.1', limitMs = LIMIT_MS }: Options = {},
): Promise<void> {
  try {
    await rehearse(config.attestation !== undefined, host, limitMs);
  } catch (error) {
    log.warn({ error: framesOf(error) }, 'the warm-up failed; the first requests may be slow');
  }
}

async function rehearse(attests: boolean, host: string, limitMs: number): Promise<void> {
  const start = performance.now();
  const stage = await openStage(host, attests);
  const timer = setTimeout(stage.abort, Math.max(0, start + limitMs - performance.now()));
  try {
    let sealed = '';
    const hasTime = () => performance.now() - start < ENOUGH_MS;
    // At least one round, however long the machine took to open the stage: a slow machine is no failure.
    for (let round = 0; round === 0 || (round < ROUNDS && hasTime()); round += 1) {
      const challenge = await stage.solveChallenge();
      for (const request of requestsOf(round, { sealed, challenge, attests })) {
        const answer = await stage.ask(request);
        sealed = Object(answer).data?.deviceFingerprint?.judgement?.sealed ?? sealed;
      }
    }
    // Whatever refused everything has warmed up nothing.
    if (sealed === '') throw new Error('expected a judgement in the warm-up, but got none');
  } finally {
    clearTimeout(timer);
    await stage.close();
  }
}
