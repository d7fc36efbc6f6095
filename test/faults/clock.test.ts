import { expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { pause, startSwitchable, until } from './concurrency.ts';
import { FAIL, PAGE } from './documented.ts';

/** The wall clock of the machine steps back and forward. Nothing that decides about a captcha depends on it. */

const SHIFT_CLOCK = new URL('./shift-clock.ts', import.meta.url).href;
const BOGUS = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };
/** An outage ends with the first probe, and there is one a second. */
const ENDS_WITHIN_MS = 2_000;
/** What a busy machine adds, in ms. */
const SLACK_MS = 1_500;

const AT_ONCE = 60;

const fails = answer(200, JSON.stringify(FAIL));
const unavailable = answer(503, PAGE);

async function start() {
  const upstream = await startSwitchable(fails);
  onTestFinished(upstream.stop);
  const child = startProcess(MAIN, {
    PORT: '0',
    SHUTDOWN_GRACE_MS: '0',
    LOG_LEVEL: 'info',
    ALLOW_DIRECT_ACCESS: 'true',
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_shop","secret":"sk_shop","region":"NA"}]',
    FINGERPRINT_URL_NA: upstream.url,
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"key_shop","region":"EU"}]`,
    CAPTCHA_URL_EU: upstream.url,
    NODE_OPTIONS: `--import ${SHIFT_CLOCK}`,
  });
  onTestFinished(child.stop);
  const [, url = ''] = await child.waitFor(/"url":"([^"]+)"[^\n]*"msg":"ready"/);
  const verify = async () => (await ask(url, CAPTCHA_MUTATION, { input: BOGUS })).data.validateCaptcha;
  const untilProceeding = () => until(async () => (await verify())?.proceed === true);
  const step = async () => {
    const before = child.stdout().length;
    child.signal('SIGUSR2');
    await until(() => child.stdout().slice(before).includes('clock shifted'));
  };
  return { upstream, verify, untilProceeding, step };
}

test('a clock that steps back 20 s and forward again in an outage does not make it longer: it ends within 2 s', {
  timeout: 60_000,
}, async () => {
  const { upstream, verify, untilProceeding, step } = await start();
  for (const direction of ['back', 'forward']) {
    upstream.fail(unavailable);
    await untilProceeding();
    // So many that a count of failed calls would be enough to stop all of them for a while.
    const during = await Promise.all(Array.from({ length: AT_ONCE }, verify));
    expect(during.every(({ proceed }) => proceed)).toBe(true);
    await step();
    upstream.behave(fails);
    const over = startStopwatch();
    await until(async () => (await verify())?.__typename === 'CaptchaFailed');
    expect(over(), direction).toBeLessThan(ENDS_WITHIN_MS + SLACK_MS);
  }
});

test('a clock that steps back and forward while the service is well lets no captcha proceed', {
  timeout: 60_000,
}, async () => {
  const { upstream, verify, step } = await start();
  upstream.behave(unavailable);
  for (let steps = 0; steps < 3; steps += 1) {
    const outcomes = await Promise.all(Array.from({ length: AT_ONCE }, verify));
    expect(outcomes.filter((outcome) => outcome?.proceed)).toEqual([]);
    await step();
  }
  upstream.behave(fails);
  await pause(100);
  expect(await verify()).toMatchObject({ __typename: 'CaptchaFailed' });
});
