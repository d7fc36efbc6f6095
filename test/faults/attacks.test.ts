import { describe, expect, type TestContext, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { answer, answersProbes, type Behaviour, hang, type RawRequest, reset } from '../support/hostile.ts';
import { json } from '../support/requests.ts';
import { UNLESS_LATE } from '../support/steady.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import {
  ATTESTING,
  attested,
  FIRST,
  flood,
  type Outcome,
  person,
  proceeded,
  SECOND,
  SPOILED,
  serves,
  spoils,
  TO_ANY,
  TO_BOTH,
  TO_FIRST,
  unavailable,
  untilDown,
  untilVerified,
  verifyPeople,
} from './captchas.ts';
import { exception, FAIL } from './documented.ts';
import { CAPTCHA, startBoth, startSwitchable, until, verify } from './support.ts';

/**
 * A bot buys, times, chooses or fakes an outage, so that challenges which nobody solved proceed. What it gets is never more
 * than people get: twice the verified passes of the busiest minute, and at least 10 in the life of the process.
 */

/** People are verified again within 2 s; as long again is for a busy machine that runs a dozen tests at once. */
const SOON_MS = 2 * 2_000;
const start = (context: TestContext, deadlineMs = 3_000, overrides: Partial<Config> = {}) =>
  startBoth(context, serves, deadlineMs, { ...ATTESTING, ...overrides });

describe.concurrent('an outage that is bought', UNLESS_LATE, () => {
  test.for<[string, Behaviour]>([
    ['a 503', unavailable],
    ['silence', hang],
  ])(
    'a flood for which our address is banned with %s buys no more than the rate of the people, until it ends',
    async ([, ban], context) => {
      const { upstream, app } = await start(context, 600);
      await verifyPeople(app, 8);
      const flooded = flood(200, 15, () => verify(app, TO_FIRST));
      await until(() => upstream.requests > 25);
      upstream.fail(ban);
      const outcomes = await flooded;
      upstream.behave(serves);
      expect(await untilVerified(app)).toBeLessThan(SOON_MS);
      expect(proceeded(outcomes)).toBeLessThanOrEqual(2 * 8);
      expect(attested(outcomes)).toBe(proceeded(outcomes));
    },
  );

  test.for<[string, number]>([
    ['half', 4],
    ['a quarter', 8],
  ])('a bot alone gets at most 50 captchas in 20 s while %s of the answers are 503', async ([, of], context) => {
    const { upstream, app } = await start(context);
    const fails = () => {
      let answers = 0;
      return () => answers++ % of < 2;
    };
    const [failsCall, failsProbe] = [fails(), fails()];
    upstream.behave(
      (exchange) => (failsCall() ? unavailable : serves)(exchange),
      (exchange) => (failsProbe() ? unavailable : answersProbes)(exchange),
    );
    expect(proceeded(await flood(200, 20, () => verify(app)))).toBeLessThanOrEqual((50 * 4) / 20);
  });
});

describe.concurrent('an outage of one captcha id', UNLESS_LATE, () => {
  /** Two captcha ids, each at a service of its own. */
  async function startTwo(
    context: TestContext,
    deadlineMs = 1_000,
    overrides: Partial<Config> = {},
    probe = answersProbes,
  ) {
    const second = await untilEnd(startSwitchable(serves, { probe }), context);
    const { upstream, app } = await start(context, deadlineMs, { captchaUrlNA: second.url, ...overrides });
    return { first: upstream, second, app };
  }
  const EVERYWHERE = [{}, TO_BOTH, TO_ANY];

  test.for<[string, Behaviour, string]>([
    ['is down', unavailable, 'outage'],
    ['is paused', answer(200, exception('-50105', 'captcha_id paused')), 'refused'],
  ])('a bot proceeds with no captcha id that %s, because another one is well', async ([, fault, health], context) => {
    const { second, app } = await startTwo(context);
    second.fail(fault);
    await until(async () => {
      await verify(app, { captchaId: SECOND });
      return app.logged().includes(`"account":"${SECOND}","health":"${health}"`);
    });
    const outcomes = await flood(30, 10, (n) => verify(app, { captchaId: SECOND, ...EVERYWHERE[n % 3] }));
    expect([proceeded(outcomes), attested(outcomes)]).toEqual([0, 0]);
  });

  test('a bot proceeds with no captcha id while another one has passes, though a probe says that its key is refused', async (context) => {
    const { first, second, app } = await startTwo(context);
    first.fail(unavailable);
    await untilDown(app, () => verify(app));
    const input = { captchaId: SECOND, lotNumber: 'person-of-the-second' };
    expect(await verify(app, input)).toMatchObject({ __typename: 'CaptchaPassed' });
    second.behave(unavailable, answer(200, JSON.stringify({ ...FAIL, reason: 'illegal sign_token' })));
    await until(async () => {
      await verify(app, input);
      return app.logged().includes(`"account":"${SECOND}","health":"refused"`);
    });
    expect(proceeded(await flood(30, 10, () => verify(app, TO_BOTH)))).toBe(0);
  });

  test('a bot proceeds with no captcha id before another one is known, which is well but slow', async (context) => {
    const late: Behaviour = (exchange) => void setTimeout(answersProbes, 900, exchange);
    const { first, app } = await startTwo(context, 20_000, { upstreamCheck: 'off' }, late);
    await verifyPeople(app, 40);
    first.fail(unavailable);
    const outcomes = await flood(80, 10, () => verify(app, TO_BOTH));
    await until(() => app.logged().includes('"health":"outage"'));
    expect([proceeded(outcomes), attested(outcomes)]).toEqual([0, 0]);
  });

  test('a bot proceeds with no call to another captcha id, however the bot spoils it', async (context) => {
    const { first, second, app } = await startTwo(context);
    first.fail(unavailable);
    await untilDown(app, () => verify(app));
    const outcomes: Outcome[] = [];
    for (const way of [reset, hang, unavailable, answer(429, ''), answer(500, exception('-50000', 'runtime error'))]) {
      second.behave(spoils(way));
      const spoiled = { ...SPOILED, captchaId: SECOND };
      outcomes.push(...(await flood(6, 10, (n) => verify(app, { ...spoiled, ...EVERYWHERE[n % 3] }))));
    }
    // Where both are accepted, the one that is well can be used.
    for (const to of [TO_BOTH, TO_ANY]) outcomes.push(await verify(app, to));
    expect([proceeded(outcomes), attested(outcomes)]).toEqual([0, 0]);
    expect(await verify(app, TO_FIRST)).toMatchObject({ proceed: true, attestation: expect.any(String) });
    // Without an audience the default one counts alone.
    expect(await verify(app)).toMatchObject({ proceed: true, attestation: null });
  });
});

describe.concurrent('an outage that only we see', UNLESS_LATE, () => {
  test('an outage is not confirmed because a firewall refuses for good what probes send, though a bot sends the same', async (context) => {
    const { upstream, app } = await start(context);
    const seen: string[] = [];
    const wordsOf = ({ request }: RawRequest) => /&captcha_output=.*&pass_token=\w+/.exec(request)?.[0] ?? '';
    upstream.behave(spoils(reset), (exchange) => {
      seen.push(wordsOf(exchange));
      answersProbes(exchange);
    });
    await verify(app, SPOILED);
    await until(() => seen.length > 0);
    const learned = new Set(seen);
    const refuses =
      (others: Behaviour): Behaviour =>
      (exchange) =>
        (learned.has(wordsOf(exchange)) ? unavailable : others)(exchange);
    upstream.behave(refuses(serves), refuses(answersProbes));
    const { captcha_output: captchaOutput, pass_token: passToken } = Object.fromEntries(new URLSearchParams(seen[0]));
    const bot = { lotNumber: '0'.repeat(32), captchaOutput, passToken };
    const flooded = flood(60, 30, () => verify(app, bot));
    const people = await flood(14, 100, () => person(app));
    expect(people.filter(({ __typename: type }) => type === 'CaptchaPassed')).toHaveLength(14);
    expect(proceeded(await flooded)).toBe(0);
  });

  test('an outage because the service refuses what a probe sends ends within 2 s', async (context) => {
    const { upstream, app } = await start(context);
    upstream.behave(spoils(reset), unavailable);
    await untilDown(app, () => verify(app, SPOILED));
    expect(await untilVerified(app)).toBeLessThan(SOON_MS);
    expect(await person(app)).toMatchObject({ __typename: 'CaptchaPassed' });
  });

  test.for<[string, string]>([
    ['a used value', exception('-50301', 'not proof')],
    ['a challenge of a wrong risk type', exception('-50001', 'illegal risk_type')],
    ['a lot number that the service reads in another way', JSON.stringify({ ...FAIL, reason: 'illegal sign_token' })],
  ])('an outage that only we see ends although %s is the real call of the second', async ([, body], context) => {
    const { upstream, app } = await start(context);
    upstream.behave(spoils(reset), unavailable);
    await untilDown(app, () => verify(app, SPOILED));
    upstream.behave(spoils(answer(200, body)), unavailable);
    const isSent = async () => {
      const { requests } = upstream;
      await verify(app, SPOILED);
      return upstream.requests > requests;
    };
    for (let round = 0; round < 3; round += 1) await until(isSent);
    expect(await person(app)).toMatchObject({ __typename: 'CaptchaPassed' });
  });

  test('an outage is not confirmed because the service answers after three fifths of the deadline', async (context) => {
    const { upstream, app } = await start(context, 2_500);
    const late =
      (behave: Behaviour): Behaviour =>
      (exchange) =>
        void setTimeout(behave, 1_500, exchange);
    upstream.behave(spoils(reset, late(serves)), late(answersProbes));
    const [outcomes] = await Promise.all([flood(60, 50, () => verify(app, SPOILED)), verifyPeople(app, 5)]);
    expect(proceeded(outcomes)).toBe(0);
    expect(app.logged().includes('"health":"outage"')).toBe(false);
  });

  test('a bot proceeds no more with a captcha id that was paused once the service limits our probes', async (context) => {
    const { upstream, app } = await start(context);
    await verifyPeople(app, 8);
    upstream.fail(answer(200, exception('-50105', 'captcha_id paused')));
    await until(async () => {
      await verify(app, TO_FIRST);
      return app.logged().includes('"health":"refused"');
    });
    let limited = 0;
    upstream.behave(spoils(unavailable), (exchange) => {
      limited += Number(exchange.request.includes(FIRST));
      answer(429, '')(exchange);
    });
    const bot = () => verify(app, { ...SPOILED, ...TO_FIRST });
    await flood(10, 100, bot);
    await until(() => limited > 1);
    expect(proceeded(await flood(10, 100, bot))).toBe(0);
  });
});

describe.concurrent('in a real outage', UNLESS_LATE, () => {
  test('a 429 for the real calls stops nobody', async (context) => {
    const { upstream, app } = await start(context);
    upstream.fail(unavailable);
    await untilDown(app, () => verify(app, { lotNumber: 'wrong' }));
    upstream.behave(answer(429, '', { 'retry-after': '60' }), unavailable);
    const outcomes = await flood(15, 100, () => verify(app, TO_FIRST));
    // One a second is sent.
    expect(proceeded(outcomes)).toBeGreaterThan(5);
  });

  test('a page that holds an object has no more than one call a second sent, and stops nobody else', async (context) => {
    const { upstream, app } = await start(context);
    upstream.fail(answer(503, '<html><script>show({"status":"down"})</script>'));
    await untilDown(app, () => verify(app));
    const [sent, since] = [upstream.requests, performance.now()];
    const outcomes = await flood(15, 100, () => verify(app, TO_FIRST));
    expect(upstream.requests - sent).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - since) / 1_000));
    expect(proceeded(outcomes)).toBeGreaterThan(5);
  });

  test('clients that leave have no more than one call a second sent', async (context) => {
    const { upstream, app } = await start(context);
    upstream.fail(unavailable);
    await untilDown(app, () => verify(app));
    upstream.fail((exchange) => void setTimeout(unavailable, 50, exchange));
    const [sent, since] = [upstream.requests, performance.now()];
    const leave = async () => {
      const { query, variables } = CAPTCHA;
      const init = { ...json(JSON.stringify({ query, variables })), signal: AbortSignal.timeout(10) };
      await fetch(app.graphqlUrl, init).catch(() => undefined);
    };
    while (performance.now() - since < 1_500) await Promise.all(times(5, leave));
    expect(upstream.requests - sent).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - since) / 1_000));
  });
});
