import { describe, expect, test } from 'vitest';
import { answer, startHostile } from '../support/hostile.ts';
import { BODY_FAULTS } from './body-faults.ts';
import { CAPTCHA_FAULTS } from './captcha-faults.ts';
import { CONNECTION_FAULTS } from './connection-faults.ts';
import {
  askTimed,
  CAPTCHA,
  expectData,
  expectDiscretion,
  expectError,
  FINGERPRINT,
  type Question,
  startAgainst,
  type Timed,
} from './expectations.ts';
import type { Row, Target, UpstreamCode } from './fault-table.ts';
import { FINGERPRINT_FAULTS } from './fingerprint-faults.ts';
import { expectNothingLeft, expectNothingUnhandled, heldResources } from './process-watch.ts';
import { TRANSPORT_FAULTS } from './transport-faults.ts';

/** Every way in which an upstream can fail, end to end: the outcome, the calls, and what must hold for each fault. */

/** A row that waits for the deadline gets this one, in ms. */
const SHORT = 200;
/** A row that must not wait gets one that it cannot reach by accident, however busy the machine is. */
const LONG = 10_000;
/** How long an answer may take beyond its deadline, in ms. It is less than the timeout of a connection, so nobody waits for one in vain. */
const SLACK = 1_000;

expectNothingUnhandled();

function expectPunctuality({ elapsed, waited }: Timed, deadline: number): void {
  if (deadline === LONG) expect(elapsed).toBeLessThan(LONG / 2);
  else {
    // Timers are allowed to be a little early.
    expect(elapsed).toBeGreaterThan(SHORT - 20);
    expect(waited).toBeLessThan(SHORT + SLACK);
  }
}

async function expectCalls({ calls }: Row, upstream: Target): Promise<void> {
  if (calls === 'at most 1') expect(upstream.requests).toBeLessThanOrEqual(1);
  else expect(upstream.requests).toBe(calls);
  // No second request was begun.
  expect(upstream.spokenTo).toBeLessThanOrEqual(calls === 0 ? 0 : 1);
  // At most one socket waits for the next call; what was cut off is closed.
  await expect.poll(() => upstream.open).toBeLessThanOrEqual(1);
}

/** A deadline that passes while this process cannot run is rightly OVERLOADED, but says nothing about the fault. */
const wasKeptFromRunning = ({ text, elapsed, waited }: Timed) =>
  elapsed - waited > SHORT && text.includes('OVERLOADED');

/** Runs a row with a new app; false if this system cannot run it. It runs again if the machine interfered. */
async function run(row: Row, question: Question, expected: UpstreamCode | object, attempts = 5): Promise<boolean> {
  const before = heldResources();
  const bystander = await startHostile(answer(200, question.good));
  const upstream = await row.start({ good: question.good, elsewhere: bystander.url });
  // A row that times out does so for both clients.
  const deadline = row.expected.fingerprint === 'UPSTREAM_TIMEOUT' ? SHORT : LONG;
  // Without a check at the start, an upstream that is dead from then on delays nothing.
  const app = upstream && (await startAgainst(upstream, deadline, { upstreamCheck: 'off' }));
  try {
    if (!app) return false;
    const answered = await askTimed(app, question);
    if (attempts > 1 && wasKeptFromRunning(answered)) return await run(row, question, expected, attempts - 1);
    if (typeof expected === 'string') expectError(answered, expected);
    else expectData(answered, question.field, expected);
    expect(answered.text).not.toMatch(/__proto__|evil|prototype/);
    expectPunctuality(answered, deadline);
    expectDiscretion(answered, app, [upstream.port, bystander.port]);
    // The client gets a generic message, and the log names the application that was refused.
    if (expected === 'UPSTREAM_REJECTED') await expect.poll(app.logged).toContain('pk_sandbox_glb');
    await expectCalls(row, upstream);
    expect(bystander.connections).toBe(0);
  } finally {
    await app?.stop();
    await Promise.all([upstream?.stop(), bystander.stop()]);
  }
  await expectNothingLeft(before);
  return true;
}

/** Each with its whole name in front: vitest cuts a name that it takes out of a row itself. */
function named(rows: readonly Row[]): [string, Row][] {
  return rows.map((row) => [row.fault, row]);
}

const summary = (expected: object) => ('cause' in expected ? `no verdict, ${expected.cause}` : 'data');

describe.each([
  ['no connection', CONNECTION_FAULTS],
  ['no usable answer', [...TRANSPORT_FAULTS, ...BODY_FAULTS]],
  ['an answer in JSON', [...FINGERPRINT_FAULTS, ...CAPTCHA_FAULTS]],
])('%s', { timeout: 30_000 }, (_group, rows) => {
  describe.each(named(rows))('%s', (_name, row) => {
    const { fingerprint, captcha } = row.expected;
    if (fingerprint) {
      test(`fingerprint: ${typeof fingerprint === 'string' ? fingerprint : 'data'}`, async ({ skip }) => {
        if (!(await run(row, FINGERPRINT, fingerprint))) skip('this system cannot do that');
      });
    }
    if (captcha) {
      test(`captcha: ${summary(captcha)}`, async ({ skip }) => {
        if (!(await run(row, CAPTCHA, captcha))) skip('this system cannot do that');
      });
    }
  });
});
