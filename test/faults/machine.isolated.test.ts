import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { answer, type Behaviour } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { untilDown } from './captchas.ts';
import { errorEnvelope, FAIL, PAGE } from './documented.ts';
import { startAgainst, startSwitchable, until, verify } from './support.ts';

/** The clock and the resolver of this machine. No captcha proceeds for what they do, or a bot would only have to keep them busy. */

const [fails, refuses] = [answer(200, JSON.stringify(FAIL)), answer(400, errorEnvelope(400, 'Invalid request'))];
const works: Behaviour = (exchange) => (exchange.request.startsWith('POST /validate') ? fails : refuses)(exchange);
const unavailable = answer(503, PAGE);

const HOST = 'upstream.example';

/** An app with an upstream by name that answers every captcha with "fail". */
async function start(overrides: Partial<Config> = {}) {
  const upstream = await startSwitchable(works);
  onTestFinished(upstream.stop);
  const app = await startAgainst({ url: upstream.url.replace('127.0.0.1', HOST) }, 10_000, overrides);
  onTestFinished(app.stop);
  const verifyMany = (count: number) => Promise.all(Array.from({ length: count }, () => verify(app)));
  return { upstream, app, verifyMany };
}

/** How the resolver of this process answers for the upstream: a look-up takes `ms`. */
const resolver = { ms: 0, code: undefined as string | undefined };
const { lookup } = dns;

const fake = (hostname: string, options: dns.LookupAllOptions, done: (...result: unknown[]) => void) => {
  if (hostname !== HOST) return void Reflect.apply(lookup, dns, [hostname, options, done]);
  setTimeout(() => {
    const { code } = resolver;
    if (code !== undefined) done(Object.assign(new Error('look-up'), { code }));
    else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
    else done(null, '127.0.0.1', 4);
  }, resolver.ms);
};

beforeEach(() => {
  Object.assign(resolver, { ms: 0, code: undefined });
  // Sound: it takes the two forms that this process uses.
  dns.lookup = fake as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
});
afterEach(() => {
  dns.lookup = lookup;
  syncBuiltinESMExports();
});

const OVERLOADED = { code: 'OVERLOADED', retryable: true };

// The other codes of this kind are in the tests of the pool and of the probe.
test.each([
  ['each look-up fails with EMFILE', 0, 'EMFILE'],
  ['a look-up takes longer than anybody waits', 4_000, undefined],
])('20 bogus captchas get no verdict when %s, and that is no outage', async (_what, ms, code) => {
  Object.assign(resolver, { ms, code });
  const { app, verifyMany } = await start({ upstreamCheck: 'off' });
  // Two failed probes would confirm an outage after 300 ms.
  for (const end = performance.now() + 700; performance.now() < end; )
    for (const outcome of await verifyMany(20)) expect(outcome).toEqual(OVERLOADED);
  expect(app.logged()).not.toContain('"health":"outage"');
  if (ms > 0) return;
  // The probes get no address either, so an account would be down for good if that counted.
  resolver.code = undefined;
  for (const outcome of await verifyMany(20)) expect(outcome).toMatchObject({ __typename: 'CaptchaFailed' });
});

describe('a wall clock that steps', () => {
  const { now } = Date;
  let shiftMs = 0;
  beforeEach(() => {
    shiftMs = 0;
    // The monotonic clock stays as it is, as when somebody sets the clock of a machine.
    Date.now = () => now() + shiftMs;
  });
  afterEach(() => {
    Date.now = now;
  });

  /** An outage ends with the first probe, and there is one a second; then what a busy machine adds. In ms. */
  const ENDS_WITHIN_MS = 2_000 + 1_500;

  test('back 20 s and forward again in an outage does not make it longer', async () => {
    const { upstream, app, verifyMany } = await start();
    for (const [outages, step] of [-20_000, 20_000].entries()) {
      upstream.fail(unavailable);
      await untilDown(app, () => verify(app), outages + 1);
      // So many that a count of failed calls would be enough to stop all of them for a while.
      for (const outcome of await verifyMany(60)) expect(outcome).toMatchObject({ cause: 'TRANSPORT' });
      shiftMs = step;
      upstream.behave(works);
      const over = startStopwatch();
      await until(async () => (await verify(app))?.__typename === 'CaptchaFailed');
      expect(over(), String(step)).toBeLessThan(ENDS_WITHIN_MS);
    }
  });
});
