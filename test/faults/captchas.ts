import { generateKey } from '../../src/captcha/attestation.ts';
import { SANDBOX_ATTESTATION, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import type { Config } from '../../src/settings/variables.ts';
import type { TestApp } from '../support/app.ts';
import { answer, type Behaviour, type RawRequest } from '../support/hostile.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { times } from '../support/times.ts';
import { exception, FAIL, PAGE, PASS } from './documented.ts';
import { ACCOUNTS, pause, until, verify } from './support.ts';

/** People and bots at a captcha service, what they send, and what they get in an outage. */

export const [FIRST, SECOND] = [ACCOUNTS.GLB.captchaId, ACCOUNTS.NA.captchaId];

const audience = (id: string, captchaIds?: readonly string[]) =>
  ({ id, actions: ['buy'], subject: 'optional', ...(captchaIds && { captchaIds }) }) as const;

/** Every captcha id has worked before the test begins, however busy the machine is. */
export const CHECKED = { upstreamCheck: 'all' } as const;

/** Two captcha ids, and an audience that accepts the first one, one that lists both, and one that accepts any. */
export const ATTESTING: Partial<Config> = {
  ...CHECKED,
  captchaConfigurations: SANDBOX_CAPTCHAS.slice(0, 2),
  attestationKeys: [generateKey('active')],
  attestation: {
    ...SANDBOX_ATTESTATION,
    audiences: [audience('first', [FIRST]), audience('both', [FIRST, SECOND]), audience('any')],
  },
};
export const TO_FIRST = { audience: 'first', action: 'buy' };
export const TO_BOTH = { audience: 'both', action: 'buy' };
export const TO_ANY = { audience: 'any', action: 'buy' };

export const unavailable = answer(503, PAGE);

const lotOf = ({ request }: RawRequest) => /lot_number=([\w-]+)/.exec(request)?.[1] ?? '';

/** A captcha service that knows by the lot number who asks: it verifies a person, rejects what is wrong, and knows no other challenge. */
export const serves: Behaviour = (exchange) => {
  const lot = lotOf(exchange);
  const pass = { ...PASS, captcha_args: { ...PASS.captcha_args, lot_number: lot } };
  if (lot.startsWith('person')) answer(200, JSON.stringify(pass))(exchange);
  else answer(200, lot.startsWith('wrong') ? JSON.stringify(FAIL) : exception('-50301', 'not proof'))(exchange);
};

/** The same, but does something else to calls whose lot number begins with `spoiled`. */
export const spoils =
  (behave: Behaviour, others = serves): Behaviour =>
  (exchange) =>
    (lotOf(exchange).startsWith('spoiled') ? behave : others)(exchange);
export const SPOILED = { lotNumber: 'spoiled' };

export type Outcome = Awaited<ReturnType<typeof verify>>;

/** Sends so many, one after each pause, and gives every outcome. */
export async function flood(count: number, everyMs: number, one: (n: number) => Promise<Outcome>): Promise<Outcome[]> {
  const sent: Promise<Outcome>[] = [];
  for (let n = 0; n < count; n += 1) {
    sent.push(one(n));
    // A test that has failed, and is repeated, awaits none of them.
    sent[n]?.catch(() => {});
    await pause(everyMs);
  }
  return Promise.all(sent);
}

const hasProceeded = (outcome: Outcome) => outcome?.__typename === 'CaptchaIndeterminate' && outcome.proceed === true;
/** How many proceeded without a verdict, and how many have an attestation. */
export const proceeded = (outcomes: readonly Outcome[]) => outcomes.filter(hasProceeded).length;
export const attested = (outcomes: readonly Outcome[]) =>
  outcomes.filter((outcome) => hasProceeded(outcome) && outcome.attestation).length;

type Headers = Readonly<Record<string, string>>;

let persons = 0;
/** A person who has solved the captcha asks. */
export function person(app: TestApp, headers: Headers = {}): Promise<Outcome> {
  persons += 1;
  return verify(app, { lotNumber: `person-${persons}` }, headers);
}

/** So many people are verified at once, counted from 0; whoever finds this process busy asks again. */
export async function verifyPeople(
  app: TestApp,
  count: number,
  headersOf = (_n: number): Headers => ({}),
): Promise<void> {
  const isVerified = async (n: number) => (await person(app, headersOf(n))).__typename === 'CaptchaPassed';
  await Promise.all(times(count, (n) => until(() => isVerified(n))));
}

/** Asks each 100 ms until there is such an outcome. Gives how long that took in ms; infinity if it took more than 10 s. */
export async function untilOne(one: () => Promise<Outcome>, isSuch: (outcome: Outcome) => boolean): Promise<number> {
  const elapsed = startStopwatch();
  let ms = Number.POSITIVE_INFINITY;
  const asked: Promise<void>[] = [];
  for (; ms === Number.POSITIVE_INFINITY && elapsed() < 10_000; await pause(100)) {
    asked.push(
      one().then((outcome) => {
        if (isSuch(outcome)) ms = Math.min(ms, elapsed());
      }),
    );
  }
  await Promise.all(asked);
  return ms;
}
export const untilVerified = (app: TestApp) =>
  untilOne(
    () => person(app),
    ({ __typename }) => __typename === 'CaptchaPassed',
  );
export const untilProceeding = (app: TestApp, input?: object) => untilOne(() => verify(app, input), hasProceeded);

/** Has this sent until the log says that so many outages of this account have begun, or of all accounts together. */
export async function untilDown(
  app: TestApp,
  send: () => Promise<unknown>,
  outages = 1,
  account = FIRST,
): Promise<void> {
  const began = new RegExp(`"account":"${account || '\\w+'}","health":"outage"`);
  await until(async () => {
    await send();
    return app.logged().split(began).length > outages;
  });
}
