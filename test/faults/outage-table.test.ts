import { expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answersProbes, type RawRequest, startHostile } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { BODY_FAULTS } from './body-faults.ts';
import { CAPTCHA_FAULTS } from './captcha-faults.ts';
import { pause, until } from './concurrency.ts';
import { CAPTCHA, startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';
import { TRANSPORT_FAULTS } from './transport-faults.ts';

/**
 * The table of faults once more, but here they befall everybody: a service was well, and from then on it does to our probes what it
 * does to a caller.
 */

/** Half of it passes until a probe follows a call that hangs, and less than the other half until that is silence, in ms. */
const DEADLINE = 4_000;

expectNothingUnhandled();

interface CaptchaRow {
  readonly fault: string;
  readonly mistreat: (exchange: RawRequest) => void;
  readonly expected: { readonly cause?: string; readonly proceed?: boolean };
}

/** Every fault of an answer to a captcha. */
const ROWS = [...TRANSPORT_FAULTS, ...BODY_FAULTS, ...CAPTCHA_FAULTS].flatMap(
  ({ fault, behave, expected }): CaptchaRow[] =>
    behave && expected.captcha
      ? [
          {
            fault,
            mistreat: behave({ good: CAPTCHA.good, elsewhere: 'http://127.0.0.1:9' }),
            expected: expected.captcha,
          },
        ]
      : [],
);

const idOf = (index: number) => String(index).padStart(32, '0');

/** An app with a captcha id for each fault. */
async function start() {
  const probed = new Set<number>();
  const rowOf = ({ request }: RawRequest) => Number(/captcha_id=(\d+)/.exec(request)?.[1]);
  const upstream = await startHostile((exchange) => ROWS[rowOf(exchange)]?.mistreat(exchange), {
    probe: (exchange) => {
      const index = rowOf(exchange);
      // Those of the fingerprint service have no captcha id.
      const row = probed.has(index) ? ROWS[index] : undefined;
      (row?.mistreat ?? answersProbes)(exchange);
      probed.add(index);
    },
  });
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, DEADLINE, {
    upstreamCheck: 'all',
    upstreamCheckGraceMs: 60_000,
    captchaConfigurations: ROWS.map((_row, index) => ({ captchaId: idOf(index), captchaKey: 'key', region: 'GLB' })),
  });
  onTestFinished(app.stop);
  return app;
}

test('a fault that befalls our probes as well is an outage, in which captchas proceed unless a bot can cause it', async () => {
  const { graphqlUrl } = await start();
  const proceeds = async (index: number): Promise<boolean> => {
    const input = { ...Object(CAPTCHA.variables['input']), captchaId: idOf(index) };
    return (await ask(graphqlUrl, CAPTCHA_MUTATION, { input })).data.validateCaptcha?.proceed;
  };
  const indexes = (isOutage: boolean) =>
    [...ROWS.keys()].filter((index) => /TRANSPORT|SERVICE/.test(ROWS[index]?.expected.cause ?? '') === isOutage);

  const outages = indexes(true);
  expect(outages.length).toBeGreaterThan(40);
  // A busy machine makes this process late, and then a probe confirms nothing, but a later one does.
  const isConfirmed = async (index: number) => {
    const isDown = await proceeds(index);
    if (!isDown) await pause(500);
    return isDown;
  };
  await Promise.all(outages.map((index) => until(() => isConfirmed(index))));

  const others = indexes(false).map(async (index) => ({
    fault: ROWS[index]?.fault,
    proceed: await proceeds(index),
  }));
  for (const { fault, proceed } of await Promise.all(others)) {
    expect(proceed, fault).toBe(ROWS.find((row) => row.fault === fault)?.expected.proceed ?? true);
  }
}, 60_000);
