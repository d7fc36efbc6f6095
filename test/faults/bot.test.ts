import { describe, expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import {
  answer,
  answersProbes,
  type Behaviour,
  hang,
  type RawRequest,
  reset,
  startHostile,
} from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { pause } from './concurrency.ts';
import { exception, FAIL, PAGE, PASS } from './documented.ts';
import { startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** A bot that makes its own calls fail while the service is well: our probes are answered, so none of its captchas proceeds. */

const ATTACK_MS = 4_000;
const EVERY_MS = 10;
const DEADLINE = 1_500;

expectNothingUnhandled();

const lotOf = ({ request }: RawRequest) => /lot_number=([\w-]+)/.exec(request)?.[1] ?? '';
const passes: Behaviour = (exchange) => {
  const captcha_args = { ...PASS.captcha_args, lot_number: lotOf(exchange) };
  answer(200, JSON.stringify({ ...PASS, captcha_args }))(exchange);
};

/** What the bot can make of a call of its own. The answer to nobody else is affected. */
const WAYS: readonly Behaviour[] = [
  reset,
  hang,
  answer(503, PAGE),
  answer(200, PAGE),
  answer(302, PAGE, { location: 'http://127.0.0.1:9' }),
  answer(500, exception('-50000', 'runtime error')),
  answer(200, JSON.stringify(FAIL).slice(0, 40)),
];

describe('while the service is well', () => {
  test('a bot whose calls fail in every way, 100 times a second, causes at most four probes a second, and none proceeds', async () => {
    const probedAt: number[] = [];
    const upstream = await startHostile(
      (exchange) => {
        const lot = lotOf(exchange);
        (lot.startsWith('bot-') ? (WAYS[Number(lot.slice(4)) % WAYS.length] ?? hang) : passes)(exchange);
      },
      {
        probe: (exchange) => {
          if (exchange.request.includes(`captcha_id=${'a'.repeat(32)}`)) probedAt.push(performance.now());
          answersProbes(exchange);
        },
      },
    );
    onTestFinished(upstream.stop);
    const app = await startAgainst(upstream, DEADLINE);
    onTestFinished(app.stop);
    const verify = async (lotNumber: string) => {
      const input = { lotNumber, captchaOutput: 'o', passToken: 'p', genTime: '1' };
      return (await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input })).text;
    };

    const start = performance.now();
    const bogus: Promise<string>[] = [];
    const honest: Promise<string>[] = [];
    for (let n = 0; performance.now() - start < ATTACK_MS; n += 1) {
      bogus.push(verify(`bot-${n}`));
      if (n % 10 === 0) honest.push(verify(`person-${n}`));
      await pause(EVERY_MS);
    }
    const texts = await Promise.all(bogus);
    const seconds = (performance.now() - start) / 1_000;

    expect(texts.length).toBeGreaterThan(100);
    expect(texts.filter((text) => text.includes('"proceed":true'))).toEqual([]);
    // A busy machine makes some of them OVERLOADED, which is no outcome.
    expect(texts.some((text) => text.includes('"cause":"TRANSPORT"'))).toBe(true);
    expect((await Promise.all(honest)).filter((text) => !text.includes('CaptchaPassed'))).toEqual([]);
    const probes = probedAt.filter((at) => at >= start).length;
    expect(probes).toBeGreaterThan(0);
    expect(probes).toBeLessThanOrEqual(Math.ceil(seconds * 4));
    expect(app.logged()).not.toContain('"health":"outage"');
  });

  test('a captcha whose call hangs does not proceed, and is answered at its deadline', async () => {
    const upstream = await startHostile(hang);
    onTestFinished(upstream.stop);
    const app = await startAgainst(upstream, DEADLINE);
    onTestFinished(app.stop);
    const input = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };
    const start = performance.now();
    const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
    expect(performance.now() - start).toBeLessThan(DEADLINE + 1_000);
    expect(data.validateCaptcha?.proceed ?? false).toBe(false);
  });
});

describe('the default captcha id is paused after it worked', () => {
  const paused = answer(200, exception('-50105', 'captcha_id paused'));
  const deleted = answer(200, exception('-50104', 'captcha_id deleted'));
  const [FIRST, SECOND] = ['a'.repeat(32), 'b'.repeat(32)];

  test.each([
    ['a captcha for it proceeds, because its probe is refused in the same way', FIRST, paused, true],
    ['none for another captcha id proceeds, which a bot could name', SECOND, paused, false],
    ['none proceeds if its probe is refused in another way', FIRST, deleted, false],
    ['none proceeds if its probe is answered', FIRST, answersProbes, false],
  ])('%s', async (_title, captchaId, probe, proceed) => {
    const now = { probe: answersProbes };
    const upstream = await startHostile(paused, { probe: (exchange) => now.probe(exchange) });
    onTestFinished(upstream.stop);
    const app = await startAgainst(upstream, 5_000, { upstreamCheck: 'all' });
    onTestFinished(app.stop);
    now.probe = probe;
    const input = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1', captchaId };
    const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
    expect(data.validateCaptcha).toMatchObject({ cause: 'CONFIGURATION', code: '-50105', proceed });
  });
});
