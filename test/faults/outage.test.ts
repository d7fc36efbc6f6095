import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { partsOf } from '../support/attestations.ts';
import { answer, answersProbes, type Behaviour, hang, reset, thenClose } from '../support/hostile.ts';
import { UNLESS_LATE } from '../support/steady.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import {
  ATTESTING,
  flood,
  type Outcome,
  proceeded,
  SECOND,
  serves,
  TO_ANY,
  TO_BOTH,
  TO_FIRST,
  unavailable,
  untilDown,
  untilProceeding,
  untilVerified,
  verifyPeople,
} from './captchas.ts';
import { exception, PAGE } from './documented.ts';
import { CAPTCHA, crowd, startBoth, startSwitchable, until, verify } from './support.ts';

/** Failures that befall everybody, for a moment or for longer. A moment is no outage, and in an outage people proceed soon. */

/** Long enough that a short lag of this process, which is also the service, spoils no probe: a quarter of it would. */
const DEADLINE = 3_000;
/** Where nothing hangs it is so long that no busy machine makes a call late. */
const LONG = 20_000;
/** Within this time after the first call of an outage somebody proceeds, in ms. */
const KNOWN_MS = { refused: 1_000, hanging: DEADLINE + 1_500 };
/** What a busy machine adds, whose lag excuses a service for a while. */
const BUSY_MS = 2_000;
/** A probe and a real call follow each second, so after an outage people are verified within 2 s. */
const OVER_MS = 2_000 + BUSY_MS;
/** No answer takes as long as this if it waits for no call and no probe, in ms. */
const AT_ONCE_MS = 500;

const HTML = { 'content-type': 'text/html' };
const limited = answer(429, '');
const refused = (code: string) => answer(200, exception(code, 'captcha_id'));
const [paused, unknown] = [refused('-50105'), refused('-50102')];

/** Every account whose outage is in the log, as often as one began. */
function outagesOf(app: TestApp): string[] {
  const found = app.logged().matchAll(/"service":"(\w+)","region":"(\w+)","account":"(\w+)","health":"outage"/g);
  return [...found].map(([, service, region]) => `${service} ${region}`);
}

describe.concurrent('a whole outage', UNLESS_LATE, () => {
  test.for<readonly [string, Behaviour, number, number]>([
    ['a 503', unavailable, LONG, 2],
    ['a reset', reset, LONG, 1],
    ['silence', hang, DEADLINE, 1],
  ])(
    'a whole outage with %s lets people proceed soon and at once, with one real call a second, and is soon over, each time',
    async ([, failure, deadline, outages], context) => {
      const { upstream, app } = await startBoth(context, serves, deadline, ATTESTING);
      await verifyPeople(app, 40);
      for (let outage = 1; outage <= outages; outage += 1) {
        upstream.fail(failure);
        expect(await untilProceeding(app)).toBeLessThan(
          (failure === hang ? KNOWN_MS.hanging : KNOWN_MS.refused) + BUSY_MS,
        );
        const [sent, begun] = [upstream.requests, performance.now()];
        const answers = await crowd(app, CAPTCHA, 10);
        const canaries = upstream.requests - sent;
        expect(canaries).toBeLessThanOrEqual(1 + Math.ceil((performance.now() - begun) / 1_000));
        const atOnce = answers.filter(({ waited }) => waited < AT_ONCE_MS);
        expect(atOnce.length).toBeGreaterThanOrEqual(10 - canaries);
        for (const { data } of atOnce)
          expect(data.validateCaptcha).toMatchObject({ cause: 'TRANSPORT', proceed: true });
        upstream.behave(serves);
        expect(await untilVerified(app)).toBeLessThan(OVER_MS);
        // Once it is over, a captcha whose call fails does not proceed.
        upstream.behave(reset);
        expect(await verify(app)).toMatchObject({ cause: 'TRANSPORT', proceed: false });
      }
      expect(outagesOf(app).filter((account) => account === 'captcha GLB')).toHaveLength(outages);
    },
  );

  test('an outage lets nobody proceed who names a captcha id that was paused before the process started', async (context) => {
    const config = { ...ATTESTING, upstreamCheck: 'off' } as const;
    const { app } = await startBoth(context, paused, LONG, config, paused);
    const outcomes: Outcome[] = [];
    await until(async () => {
      outcomes.push(await verify(app, TO_FIRST));
      return app.logged().includes('"health":"refused"');
    });
    outcomes.push(...(await flood(5, 100, () => verify(app, TO_FIRST))));
    expect(outcomes.every(({ cause, proceed }) => cause === 'CONFIGURATION' && !proceed)).toBe(true);
  });

  test('an outage lets nobody proceed in a process that was started in it', async (context) => {
    const config = { ...ATTESTING, upstreamCheck: 'first' } as const;
    const { upstream, app } = await startBoth(context, unavailable, LONG, config, unavailable);
    const outcomes: Outcome[] = [];
    await untilDown(app, async () => outcomes.push(await verify(app)));
    outcomes.push(...(await flood(5, 300, () => verify(app, TO_FIRST))));
    expect(proceeded(outcomes)).toBe(0);
    upstream.behave(serves);
    expect(await untilVerified(app)).toBeLessThan(OVER_MS);
  });

  test('during an outage, checkouts without a widget proceed, each with an attestation of its own', async (context) => {
    const sandbox = await untilEnd(startSandbox({ port: 0 }), context);
    const app = await untilEnd(startInLiveMode(sandbox.urls, { ...ATTESTING, upstreamCheck: 'first' }), context);
    const unavailableWidget = { captchaOutput: 'unavailable', passToken: 'unavailable', genTime: '0' };
    const [one, other] = times(2, () => ({
      lotNumber: `unavailable-${randomUUID()}`,
      ...unavailableWidget,
      ...TO_FIRST,
    }));
    expect(await verify(app, one)).toMatchObject({ cause: 'CLIENT', proceed: false, attestation: null });
    await sandbox.stop();
    await untilProceeding(app);
    const outcomes = await Promise.all([one, one, other].map((input) => verify(app, input)));
    const ids = outcomes.map(({ attestation }) => partsOf(attestation).payload.jti);
    expect([ids[1], new Set(ids).size]).toEqual([ids[0], 2]);
  });

  test.for<[string, Behaviour]>([
    ['a page whose script holds an object', answer(503, `<script>e = {"ray":"1"}</script>${PAGE}`, HTML)],
    ['the JSON of a gateway', answer(502, '{"message":"Bad Gateway"}')],
    ['nothing but a status', answer(520, '')],
    ['half of a page', thenClose(answer(504, PAGE, { ...HTML, 'content-length': '9999' }))],
  ])('an outage in which an edge answers with %s stops nobody, and blames nobody', async ([, page], context) => {
    const { upstream, app } = await startBoth(context, serves, LONG, ATTESTING);
    await verifyPeople(app, 40);
    upstream.fail(page);
    await untilProceeding(app);
    // A real call of each second is among them.
    const outcomes = await flood(20, 150, () => verify(app));
    expect(outcomes.map(({ cause }) => cause)).toEqual(times(20, () => 'TRANSPORT'));
    expect(proceeded(outcomes)).toBe(20);
  });

  const [PROCEEDS, STAYS] = [
    { proceed: true, attestation: expect.any(String) },
    { proceed: false, attestation: null },
  ];
  test.for<[string, Behaviour, Behaviour, object]>([
    ['is down too, although nobody uses it', answersProbes, unavailable, PROCEEDS],
    ['is paused, and so down for everybody', answersProbes, paused, PROCEEDS],
    ['is not known to the service', unknown, unknown, STAYS],
  ])('a whole outage counts for an audience whose second captcha id %s', async ([, before, now, ofSecond], context) => {
    const other = await untilEnd(startSwitchable(serves, { probe: before }), context);
    const upstreamCheck = before === unknown ? 'first' : 'all';
    const config = { ...ATTESTING, upstreamCheck, captchaUrlNA: other.url } as const;
    const { upstream, app } = await startBoth(context, serves, LONG, config);
    // On a busy machine those of the first id use up the first ten.
    if (before !== unknown) await verify(app, { captchaId: SECOND, lotNumber: 'person-of-the-second' });
    upstream.fail(unavailable);
    other.fail(now);
    expect(await untilProceeding(app, TO_BOTH)).toBeLessThan(OVER_MS);
    expect(await verify(app, { ...TO_ANY, captchaId: SECOND })).toMatchObject(ofSecond);
  });

  test.for<[string, Behaviour]>([
    ['a 403 of a firewall', answer(403, PAGE, HTML)],
    ['a 429', limited],
  ])(
    'a second captcha id that has only had %s since the start keeps an outage of the first from counting for both',
    async ([, banned], context) => {
      const other = await untilEnd(startSwitchable(banned, { probe: banned }), context);
      const config = { ...ATTESTING, upstreamCheck: 'first', captchaUrlNA: other.url } as const;
      const { upstream, app } = await startBoth(context, serves, LONG, config);
      upstream.fail(unavailable);
      await untilProceeding(app, TO_FIRST);
      expect(proceeded(await flood(5, 10, () => verify(app, TO_BOTH)))).toBe(0);
    },
  );

  test('a whole outage of a captcha id that the service has paused lets people proceed within the budget, and blames our configuration', async (context) => {
    const other = await untilEnd(startSwitchable(serves), context);
    const { upstream, app } = await startBoth(context, serves, LONG, { ...ATTESTING, captchaUrlNA: other.url });
    await verifyPeople(app, 8);
    // Without a probe that confirms it, nobody proceeds.
    upstream.behave(paused);
    expect(await verify(app, TO_FIRST)).toMatchObject({ cause: 'CONFIGURATION', code: '-50105', proceed: false });
    upstream.fail(paused);
    expect(await untilProceeding(app, TO_FIRST)).toBeLessThan(KNOWN_MS.refused + BUSY_MS);
    const outcomes = await flood(20, 10, () => verify(app, TO_FIRST));
    expect(proceeded(outcomes)).toBeGreaterThan(10);
    expect(proceeded(outcomes)).toBeLessThan(2 * 8);
    expect(outcomes[0]).toMatchObject({ cause: 'CONFIGURATION', code: '-50105', ...PROCEEDS });
    expect(outcomes.at(-1)).toMatchObject({
      cause: 'CONFIGURATION',
      message: expect.stringContaining('limit'),
      ...STAYS,
    });
    expect(outagesOf(app)).toEqual([]);
    expect(app.logged()).toMatch(/"level":"error".*"health":"refused","reason":"-50105"/);
    upstream.behave(serves);
    expect(await untilVerified(app)).toBeLessThan(OVER_MS);
  });

  test('a whole outage ends for captchas with the first probe that gets a 429, because a service that limits us is not down', async (context) => {
    const { upstream, app } = await startBoth(context, serves, LONG, ATTESTING);
    upstream.fail(unavailable);
    await untilProceeding(app);
    upstream.fail(limited);
    // Probes are a second apart.
    await setTimeout(1_300);
    expect(await verify(app)).toMatchObject({ proceed: false, attestation: null });
  });

  test('an outage lets nobody proceed while nothing is known of it, and nobody waits for a probe', async (context) => {
    const { upstream, app } = await startBoth(context, serves, LONG, ATTESTING);
    upstream.behave(unavailable, hang);
    const elapsed = startStopwatch();
    expect(await verify(app)).toMatchObject({ cause: 'TRANSPORT', proceed: false });
    expect(elapsed()).toBeLessThan(LONG / 2);
  });
});
