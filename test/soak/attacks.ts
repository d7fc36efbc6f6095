import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { exception, FAIL, PAGE, PASS } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY } from '../support/graphql.ts';
import { times } from '../support/times.ts';
import { CAPTCHA_IDS } from './processes.ts';

/**
 * What the bot sends, and what the captcha service makes of it. The service passes a challenge once, if a person solved it; a
 * firewall in front of it can be provoked: `ask-` and a word in the captcha output says how.
 */

/** What the widget of a person gives. */
const SOLVED = 'solved-by-a-person';

export type Answer = readonly [status: number, body: string | Buffer, headers?: Readonly<Record<string, string>>];

const odd = (answer: object): Answer => [200, JSON.stringify({ ...PASS, ...answer })];
const PROVOKED: Readonly<Record<string, Answer | 'reset' | 'silence'>> = {
  forbidden: [403, PAGE],
  redirect: [302, PAGE, { location: 'http://127.0.0.1:9' }],
  limited: [503, PAGE],
  silence: 'silence',
  reset: 'reset',
  zipped: [200, gzipSync(JSON.stringify(FAIL)), { 'content-encoding': 'gzip' }],
  cut: [200, '{"status":"success","res'],
  reject: odd({ result: 'reject' }),
  other: odd({ captcha_args: { ...PASS.captcha_args, lot_number: 'another' } }),
  runtime: [200, exception('-50000', 'provoked')],
  paused: [200, exception('-50105', 'provoked')],
};
const used = new Set<string>();

export function judge(url: string, form: string): Answer | 'reset' | 'silence' {
  if (url.includes(CAPTCHA_IDS.deleted)) return [200, exception('-50104', 'captcha_id deleted')];
  if (url.includes(CAPTCHA_IDS.paused)) return [200, exception('-50105', 'captcha_id paused')];
  const word = /captcha_output=ask-([a-z]+)/.exec(form)?.[1];
  if (word !== undefined) return PROVOKED[word] ?? 'reset';
  const lot = /lot_number=([\w-]+)/.exec(form)?.[1] ?? '';
  if (!form.includes(`captcha_output=${SOLVED}&`) || used.has(lot)) return [200, JSON.stringify(FAIL)];
  used.add(lot);
  return odd({ captcha_args: { ...PASS.captcha_args, lot_number: lot } });
}

// Safe: no list here is empty.
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const body = (query: string, variables: object = {}) => JSON.stringify({ query, variables });

/** A challenge that a person solved. */
export const solved = (lotNumber: string) => ({
  lotNumber,
  captchaOutput: SOLVED,
  passToken: 'pass-token-'.repeat(6),
  genTime: '1772353800',
});

/** A captcha that nobody solved, with these values instead of made-up ones. */
export function bogus(changed: object = {}): string {
  const madeUp = { lotNumber: hex(16), captchaOutput: hex(90), passToken: hex(32), genTime: '1772353800' };
  return body(CAPTCHA_MUTATION, { input: { ...madeUp, ...changed } });
}

/** A challenge that the bot has solved itself, and sends again and again. */
export const SPEND = body(CAPTCHA_MUTATION, { input: solved('spent') });

/** Each needs a socket. */
const hundredTokens = () =>
  body(ENTITIES_QUERY, { representations: times(100, () => ({ __typename: 'DeviceFingerprint', token: hex(8) })) });

/** Each makes the bodies of one attack, which are sent at the same time. */
export const ATTACKS: readonly (() => readonly string[])[] = [
  () => [bogus()],
  () => times(20, () => bogus()),
  () => [SPEND],
  () => [bogus({ captchaId: pick([CAPTCHA_IDS.deleted, CAPTCHA_IDS.paused]) })],
  () => [bogus({ captchaId: pick(['z'.repeat(32), '', '__proto__', `${CAPTCHA_IDS.paused}&x=1`]) })],
  () => {
    const captchaOutput = `ask-${pick(Object.keys(PROVOKED))}`;
    return times(pick([1, 10]), () => bogus({ captchaOutput }));
  },
  () => [bogus({ passToken: `x${pick(['&result=success', '%26lot_number=1', '#', '?'])}` })],
  () => [bogus(pick([{ passToken: '' }, { lotNumber: 'a\u0000b' }, { genTime: '0x10' }, { passToken: null }]))],
  () => [bogus({ captchaOutput: 'x'.repeat(pick([60_000, 600_000])) })],
  () => [bogus().slice(0, -9)],
  () => [...times(11, () => hundredTokens()), ...times(20, () => bogus())],
];
