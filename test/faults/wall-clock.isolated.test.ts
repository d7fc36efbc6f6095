import { afterEach, expect, onTestFinished, test } from 'vitest';
import { answer, type Behaviour } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { times } from '../support/times.ts';
import { unavailable, untilDown } from './captchas.ts';
import { errorEnvelope, FAIL } from './documented.ts';
import { startBoth, until, verify } from './support.ts';

/** The clock of this machine. */

const [fails, refuses] = [answer(200, JSON.stringify(FAIL)), answer(400, errorEnvelope(400, 'Invalid request'))];
const works: Behaviour = (exchange) => (exchange.request.startsWith('POST /validate') ? fails : refuses)(exchange);

const { now } = Date;
afterEach(() => {
  Date.now = now;
});

/** An outage ends with the first probe, and there is one a second; then what a busy machine adds. In ms. */
const ENDS_WITHIN_MS = 2_000 + 1_500;

test('a wall clock that steps back 20 s and forward again in an outage does not make it longer', async () => {
  const { upstream, app } = await startBoth({ onTestFinished }, works, 10_000);
  for (const [outages, shiftMs] of [-20_000, 20_000].entries()) {
    upstream.fail(unavailable);
    await untilDown(app, () => verify(app), outages + 1);
    // So many that a count of failed calls would be enough to stop all of them for a while.
    for (const outcome of await Promise.all(times(60, () => verify(app))))
      expect(outcome).toMatchObject({ cause: 'TRANSPORT' });
    // The monotonic clock stays as it is, as when somebody sets the clock of a machine.
    Date.now = () => now() + shiftMs;
    upstream.behave(works);
    const over = startStopwatch();
    await until(async () => (await verify(app))?.__typename === 'CaptchaFailed');
    expect(over(), String(shiftMs)).toBeLessThan(ENDS_WITHIN_MS);
  }
});
