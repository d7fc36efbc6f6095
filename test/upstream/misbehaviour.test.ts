import { describe, expect, onTestFinished, test } from 'vitest';
import { answer, type Hostile, startHostile } from '../support/hostile.ts';
import {
  askTimed,
  CAPTCHA,
  expectData,
  expectDiscretion,
  expectError,
  expectNoVerdict,
  FINGERPRINT,
  type Question,
  startAgainst,
  type Timed,
  type UpstreamCode,
} from './expectations.ts';
import { CAPTCHA_ROWS, FINGERPRINT_ROWS } from './json-rows.ts';
import { TRANSPORT_ROWS, type TransportRow } from './transport-rows.ts';
import { startBlackHole, startRefusing, type Unreachable } from './unreachable.ts';
import { WORDLESS_ROWS } from './wordless-rows.ts';

/** Every way in which an upstream can fail us, end to end. What to expect stands in the design, sections 1 and 2. */

/** A row that waits for the deadline gets this one, in ms. */
const SHORT = 400;
/** A row that must not wait gets one that it cannot reach by accident, however busy the machine is. */
const LONG = 10_000;
/** What a busy machine may add to an answer. */
const SLACK = 1_000;

function expectPunctuality({ elapsed }: Timed, deadline: number): void {
  if (deadline === LONG) expect(elapsed).toBeLessThan(SLACK);
  else {
    // Timers are allowed to be a little early.
    expect(elapsed).toBeGreaterThan(SHORT - 20);
    expect(elapsed).toBeLessThan(SHORT + SLACK);
  }
}

const deadlineFor = (code: UpstreamCode) => (code === 'UPSTREAM_TIMEOUT' ? SHORT : LONG);

/** With the whole name in front: vitest cuts a name that it takes out of a row itself. */
function named<Row extends { name: string }>(rows: readonly Row[]): [string, Row][] {
  return rows.map((row) => [row.name, row]);
}

/** Runs one question against one upstream, with a fresh app, and checks what holds for every row. */
async function run(upstream: Unreachable, question: Question, deadline: number, ports: readonly number[] = []) {
  const app = await startAgainst(upstream, deadline);
  onTestFinished(app.stop);
  const answered = await askTimed(app, question);
  expectPunctuality(answered, deadline);
  expectDiscretion(answered, app, [upstream.port, ...ports]);
  return { app, answered };
}

async function runTransport(row: TransportRow, question: Question): Promise<{ answered: Timed; log: string }> {
  const elsewhere = await startHostile(answer(200, question.good));
  onTestFinished(elsewhere.stop);
  const behave = row.behave({ good: question.good, elsewhere: elsewhere.url });
  const upstream = await startHostile(behave, row.greet);
  onTestFinished(upstream.stop);
  const { app, answered } = await run(upstream, question, deadlineFor(row.code), [elsewhere.port]);
  expect(elsewhere.connections).toBe(0);
  await expectOneCall(upstream, row.greet === undefined);
  return { answered, log: app.logged() };
}

/** Design, section 2: no retry once a byte was sent. A connection that broke at once may have been spoken to or not. */
async function expectOneCall(upstream: Hostile, wholeRequest: boolean): Promise<void> {
  if (wholeRequest) expect(upstream.requests).toBe(1);
  expect(upstream.spokenTo).toBeLessThanOrEqual(1);
  // At most one socket waits for the next call; what was cut off is closed.
  await expect.poll(() => upstream.open).toBeLessThanOrEqual(1);
}

describe('no usable answer', () => {
  describe.each(named([...TRANSPORT_ROWS, ...WORDLESS_ROWS]))('%s', (_name, row) => {
    test(`fingerprint: ${row.code}`, async () => {
      const { answered, log } = await runTransport(row, FINGERPRINT);
      expectError(answered, row.code);
      // Outside it is a generic message; which application was refused, the operator finds in the log.
      if (row.code === 'UPSTREAM_REJECTED') expect(log).toContain('pk_sandbox_glb');
    });
    // A bare 4xx blames the request: a bot can provoke one, so it must not proceed.
    const cause = /^4\d\d /.test(row.name) ? 'CLIENT' : 'TRANSPORT';
    test(`captcha: ${cause}`, async () => expectNoVerdict((await runTransport(row, CAPTCHA)).answered, cause));
  });
});

describe('no connection', () => {
  test('refused', async () => {
    const refusing = await startRefusing();
    onTestFinished(refusing.stop);
    expectError((await run(refusing, FINGERPRINT, LONG)).answered, 'UPSTREAM_UNAVAILABLE');
    expectNoVerdict((await run(refusing, CAPTCHA, LONG)).answered);
  });

  test('neither accepted nor refused', async ({ skip }) => {
    const blackHole = await startBlackHole();
    if (!blackHole) return skip('this system accepts connections beyond the queue');
    onTestFinished(blackHole.stop);
    expectError((await run(blackHole, FINGERPRINT, SHORT)).answered, 'UPSTREAM_TIMEOUT');
    expectNoVerdict((await run(blackHole, CAPTCHA, SHORT)).answered);
  });
});

describe('fingerprint answers in JSON', () => {
  test.each(named(FINGERPRINT_ROWS))('%s', async (_name, { behave, expected }) => {
    const upstream = await startHostile(behave);
    onTestFinished(upstream.stop);
    const { answered } = await run(upstream, FINGERPRINT, LONG);
    if (typeof expected === 'string') expectError(answered, expected);
    else {
      expectData(answered, 'deviceFingerprint', { __typename: 'DeviceFingerprint', ...expected });
      expect(answered.text).not.toMatch(/__proto__|evil|prototype/);
    }
    await expectOneCall(upstream, true);
  });
});

describe('captcha answers in JSON', () => {
  test.each(named(CAPTCHA_ROWS))('%s', async (_name, { behave, expected }) => {
    const upstream = await startHostile(behave);
    onTestFinished(upstream.stop);
    const { answered } = await run(upstream, CAPTCHA, LONG);
    expectData(answered, 'validateCaptcha', Object(expected));
    await expectOneCall(upstream, true);
  });
});
