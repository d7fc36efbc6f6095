import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { head, startHostile } from '../support/hostile.ts';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { ANDROID, errorEnvelope, exception, FAIL, PASS, WEB } from './documented.ts';
import { CANARY, COUNT, createChoices, createLogCheck, expectKnownErrors, lists } from './random-inputs.ts';
import { HIGH_LIMITS, startAgainst } from './support.ts';

/**
 * What holds for every answer of an upstream, tried on a thousand hostile ones of each service: documented ones with something wrong about
 * them, other JSON, and bytes.
 */

interface HostileAnswer {
  readonly status: number;
  readonly body: Buffer;
  /** Can HTTP carry it over as it is? */
  readonly isPlain: boolean;
  /** Whole, as it is to be sent. */
  readonly bytes: Buffer;
}

const FIELD_ERROR = { field: 'device_token', reason: 'Invalid token', type: 'value_error' };
const FINGERPRINT = [
  JSON.stringify(ANDROID),
  JSON.stringify(WEB),
  errorEnvelope(400, 'Invalid request', { errors: [FIELD_ERROR] }),
  errorEnvelope(500, 'Internal server error'),
];
const CAPTCHA = [JSON.stringify(FAIL), exception('-50003', 'illegal verify'), exception('-50000', 'runtime error')];

/** In place of any value. */
const ODD = [
  ...'null true 0 -1 2 1e400 "" [] {} "success" "fail" "error" 200 500 "-50003" "HIGH" "Web/H5" -50105'.split(' '),
  ...['"\\ud800"', '{"__proto__":{"proceed":true}}', '[[[[[[[[[[[]]]]]]]]]]]', `"${CANARY}"`],
];
const KEYS = 'status result reason code message data captcha_args lot_number __proto__ constructor'.split(' ');
const BYTES = [0x00, 0x0a, 0x22, 0x5c, 0x7b, 0x7d, 0x80, 0xc0, 0xed, 0xff];
// Not 429: it would pause the account for the answers that follow.
const STATUSES = [...Array<number>(10).fill(200), 201, 204, 301, 304, 400, 401, 403, 404, 413, 500, 503];
const GZIP = 'content-encoding: gzip';
const HEADERS = [GZIP, 'content-type: text/html', 'connection: close', 'set-cookie: a=b', 'retry-after: 99999'];

/** An answer made of a list of numbers, about this lot number where it is one to a captcha. */
function makeAnswer(service: 'fingerprint' | 'captcha', lotNumber: string, numbers: readonly number[]): HostileAnswer {
  const { upTo, chance, oneOf, several } = createChoices(numbers);

  function json(depth = 0): string {
    const kind = upTo(depth > 3 ? 1 : 3);
    if (kind < 2) return oneOf(ODD);
    if (kind === 2) return `[${several(4, () => json(depth + 1), ',')}]`;
    return `{${several(5, () => `"${oneOf(KEYS)}":${json(depth + 1)}`, ',')}}`;
  }

  /** With one value or key replaced, or one piece doubled or left out. */
  function altered(text: string): string {
    const values = [...text.matchAll(/(?<=[:[,])("[^"]*"|[\d.]+|\{\}|\[\])(?=[,\]}])/g)];
    const keys = [...text.matchAll(/"\w+"(?=:)/g)];
    const found = chance(75) ? values : keys;
    if (found.length === 0) return json();
    const { index, 0: match } = oneOf(found);
    const piece = found === values ? json(2) : `"${oneOf(KEYS)}"`;
    const rest = text.slice(index + match.length);
    return chance(80) ? text.slice(0, index) + piece + rest : text.slice(0, index) + rest;
  }

  function documented(): string {
    const pass = JSON.stringify(PASS).replace(PASS.captcha_args.lot_number, chance(80) ? lotNumber : 'another');
    let text = service === 'fingerprint' ? oneOf(FINGERPRINT) : oneOf([pass, pass, pass, ...CAPTCHA]);
    for (let left = oneOf([0, 1, 1, 2]); left > 0; left -= 1) text = altered(text);
    return text;
  }

  function bodyBytes(): Buffer {
    const kind = upTo(99);
    if (kind > 94) return Buffer.from(Array.from({ length: upTo(200) }, () => upTo(255)));
    const bytes = Buffer.from(kind > 84 ? json() : documented());
    // In every tenth one byte is another.
    if (bytes.length > 0 && chance(10)) bytes[upTo(bytes.length - 1)] = oneOf(BYTES);
    return chance(3) ? bytes.subarray(0, upTo(bytes.length)) : bytes;
  }

  const body = bodyBytes();
  const status = oneOf(STATUSES);
  // Sometimes the body is longer than its header says, or than its status allows. Then no other answer may follow on the socket.
  const length = chance(2) ? upTo(body.length) : body.length;
  const isPlain = length === body.length && status !== 204 && status !== 304;
  const header = chance(8) ? oneOf(HEADERS) : '';
  const lines = [head(status, { 'content-length': String(length) }).trimEnd(), isPlain ? header : 'connection: close'];
  const start = `${lines.filter((line) => line !== '').join('\r\n')}\r\n\r\n`;
  return { status, body, isPlain: isPlain && header !== GZIP, bytes: Buffer.concat([Buffer.from(start), body]) };
}

function jsonIn({ body }: HostileAnswer) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** Is this, to the letter, the documented pass (captcha document, 2.3 and 2.4) for this lot number? */
function isPass(answer: HostileAnswer, lotNumber: string): boolean {
  const { status, result, reason, captcha_args: args } = Object(jsonIn(answer));
  if (answer.status !== 200 || status !== 'success' || result !== 'success' || reason !== '') return false;
  const { used_type, user_ip, lot_number, scene, referer } = Object(args);
  return lot_number === lotNumber && [used_type, user_ip, scene, referer].every((value) => typeof value === 'string');
}

/** Is it a rejection, whatever else it contains? After `status: "success"` everything but `result: "success"` is one. */
function saysNo(answer: HostileAnswer): boolean {
  const { status, result } = Object(jsonIn(answer));
  const fails = (value: unknown) => typeof value === 'string' && value.trim().toLowerCase().startsWith('fail');
  return result === false || fails(result) || fails(status) || (status === 'success' && result !== 'success');
}

/** Does it speak of a success, so that only the documented pass may proceed? */
function speaksOfSuccess(answer: HostileAnswer): boolean {
  const { status, result } = Object(jsonIn(answer));
  return status === 'success' || result === 'success';
}

/** Answers that one operation asks for. */
const BATCH = 50;

const lotNumber = (index: number) => `q${index}.`;
const each = (make: (index: number) => string) => Array.from({ length: BATCH }, (_, index) => make(index)).join(' ');

const JUDGE = `{ ${each((i) => `a${i}: deviceFingerprint(token: "q${i}.") { ...F }`)} }
  fragment F on DeviceFingerprintResult {
    __typename
    ... on DeviceFingerprint {
      requestId clientType deviceBasic { ... on Web { browser { name additional } } ... on Mobile { model } }
      signals { name code level confidence effect }
    }
    ... on DeviceFingerprintRejected { reason errors { field reason type } }
  }`;

const VERIFY = `mutation { ${each((i) => `a${i}: validateCaptcha(input: { lotNumber: "${lotNumber(i)}", captchaOutput: "o", passToken: "p", genTime: "1" }) { ...V }`)} }
  fragment V on CaptchaValidation {
    __typename proceed
    ... on CaptchaFailed { reason } ... on CaptchaIndeterminate { cause code type }
  }`;

/** Asks for so many answers; `check` gets each with what became of it, its name and all the errors. */
async function tryAll(
  service: 'fingerprint' | 'captcha',
  check: (answer: HostileAnswer, index: number, outcome: GraphqlAnswer['data'], errors: readonly unknown[]) => void,
): Promise<void> {
  let answers: readonly HostileAnswer[] = [];
  const upstream = await startHostile(({ socket, request }) => {
    const [, index = ''] = /\bq(\d+)\./.exec(request) ?? [];
    socket.write(answers[Number(index)]?.bytes ?? '');
  });
  onTestFinished(upstream.stop);
  // With the default policy each captcha without a verdict would wait for a probe.
  const app = await startAgainst(upstream, 10_000, { ...HIGH_LIMITS, captchaFailOpen: 'never' });
  onTestFinished(app.stop);
  const expectCleanLog = createLogCheck(app);
  await fc.assert(
    fc.asyncProperty(lists(BATCH, 60), async (all) => {
      answers = all.map((numbers, index) => makeAnswer(service, lotNumber(index), numbers));
      const { status, data, errors = [] } = await ask(app.graphqlUrl, service === 'captcha' ? VERIFY : JUDGE);
      expect(status).toBe(200);
      expectKnownErrors(errors);
      for (const [index, answer] of answers.entries()) {
        const alias = `a${index}`;
        check(
          answer,
          index,
          data[alias],
          errors.filter(({ path }) => path?.[0] === alias),
        );
      }
      expectCleanLog();
    }),
    { numRuns: COUNT / BATCH },
  );
  // Each answer was asked for: no outage was confirmed.
  expect(upstream.requests).toBeGreaterThanOrEqual(COUNT);
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
}

test('only a documented answer of the fingerprint service becomes a judgement', async () => {
  let judged = 0;
  await tryAll('fingerprint', (answer, _index, outcome, errors) => {
    expect(errors).toHaveLength(outcome ? 0 : 1);
    if (outcome?.__typename === 'DeviceFingerprintRejected') expect(answer.status).toBe(400);
    if (outcome?.__typename !== 'DeviceFingerprint') return;
    judged += 1;
    expect([answer.status, JSON.parse(answer.body.toString()).code]).toEqual([200, 200]);
    for (const { level, confidence } of outcome.signals) {
      expect(['LOW', 'MEDIUM', 'HIGH']).toContain(level);
      expect(confidence >= 0 && confidence <= 1).toBe(true);
    }
  });
  expect(judged).toBeGreaterThan(COUNT / 100);
});

test('only the documented pass for this challenge passes, of all answers of the captcha service', async () => {
  let passed = 0;
  await tryAll('captcha', (answer, index, { __typename, proceed, cause }, errors) => {
    expect(errors).toEqual([]);
    const hasPassed = __typename === 'CaptchaPassed';
    if (hasPassed) passed += 1;
    // HTTP may lose what it cannot carry, but a verdict never becomes better.
    if (answer.isPlain || hasPassed) expect(hasPassed).toBe(isPass(answer, lotNumber(index)));
    if (answer.isPlain && saysNo(answer)) expect(__typename).toBe('CaptchaFailed');
    // Whatever judges the challenge never proceeds, whichever policy there is but `always`.
    const isUnclear = __typename === 'CaptchaIndeterminate';
    if (answer.isPlain && speaksOfSuccess(answer) && isUnclear) expect(cause).toBe('CLIENT');
    expect(proceed).toBe(hasPassed);
  });
  expect(passed).toBeGreaterThan(COUNT / 100);
});
