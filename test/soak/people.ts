import type { Pool } from 'undici';
import { dispatchPost } from '../bench/dispatch.ts';
import { QUESTIONS, type QuestionName } from './questions.ts';
import { readAnswer } from './samples.ts';
import { ROUTER_SECRET } from './secret.ts';
import { epochMs } from './upstream-commands.ts';

/** People with a browser: each has a device token and solves a captcha. */

/** One request of a person, with the repetition that its answer asked for, if there was one. */
export interface Visit {
  /** When it was sent, in ms since 1970. */
  readonly at: number;
  /** When its last answer came. */
  readonly answeredAt: number;
  readonly question: QuestionName;
  /** `data` if the person got the right answer; otherwise an error code or the type of another outcome. */
  readonly outcome: string;
  readonly proceeds: boolean;
  /** What the first answer was, if it asked to try again; otherwise empty. */
  readonly first: string;
}

/** A person takes this long to solve another challenge, in ms. */
const SOLVE_MS = 1_000;
const MAX_RETRY_AFTER_MS = 5_000;

let last = 1_000_000;

/**
 * Sends one request with a fresh token or challenge. If the answer asks to try again, it is repeated once, with
 * another token or challenge: after the time in `Retry-After`, and after the time that another challenge takes.
 */
export async function visit(pool: Pool, path: string, question: QuestionName): Promise<Visit> {
  const at = epochMs();
  const first = await ask(pool, path, question);
  const { outcome, proceeds } = first;
  if (first.retryMs === undefined) return { at, answeredAt: epochMs(), question, outcome, proceeds, first: '' };
  await new Promise((resolve) => setTimeout(resolve, first.retryMs));
  const second = await ask(pool, path, question);
  return { at, answeredAt: epochMs(), question, outcome: second.outcome, proceeds: second.proceeds, first: outcome };
}

interface Answer {
  readonly outcome: string;
  readonly proceeds: boolean;
  /** Undefined if the answer does not ask to try again. */
  readonly retryMs: number | undefined;
}

async function ask(pool: Pool, path: string, name: QuestionName): Promise<Answer> {
  last += 1;
  const number = last;
  try {
    const headers = { 'router-authorization': ROUTER_SECRET };
    const { header, body } = await dispatchPost(pool, path, headers, QUESTIONS[name].body(number));
    const text = body().toString();
    const { outcome, proceeds } = readAnswer(QUESTIONS[name], number, text);
    const asks = !proceeds && (text.includes('"retryable":true') || text.includes('solve a new challenge'));
    const retryAfterMs = Math.min(Number(header('retry-after') ?? 0) * 1_000, MAX_RETRY_AFTER_MS);
    return { outcome, proceeds, retryMs: asks ? Math.max(SOLVE_MS, retryAfterMs) : undefined };
  } catch (error) {
    return { outcome: `lost: ${Object(error).code ?? error}`, proceeds: false, retryMs: undefined };
  }
}
