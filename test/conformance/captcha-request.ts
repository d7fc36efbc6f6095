import { expect } from 'vitest';
import {
  expectException,
  expectFail,
  expectNoPass,
  expectPass,
  get,
  onSolved,
  type Parameters,
  parametersOf,
  post,
  submit,
  verify,
} from './captcha-http.ts';
import { type Audit, audit, REGION_PAIRS, REGIONS } from './target.ts';

/** What the service checks in a request (1, 2.1, 4, 8). */

function without(parameters: Parameters, name: keyof Parameters): Partial<Parameters> {
  return Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== name));
}

/** A text of the same length and alphabet that is certainly another: the first character that differs is swapped in. */
function altered(text: string): string {
  const [first = ''] = text;
  const other = [...text].find((character) => character !== first) ?? (first === '1' ? '2' : '1');
  return `${other}${text.slice(1)}`;
}

const acrossRegions = ['captchas', 'solve'] as const;

const genuineAudits: readonly Audit[] = [
  ...REGIONS.map((region) =>
    audit(`CA-1-${region}`, `a solved challenge passes in ${region}`, acrossRegions, async ({ captchas, solve }) => {
      expectPass(await verify(captchas[region], await solve(captchas[region])));
    }),
  ),
  ...(['lot_number', 'captcha_output', 'pass_token', 'gen_time'] as const).map((name) =>
    onSolved(`CA-1-altered-${name}`, `an altered ${name} never passes`, async (captcha, challenge) => {
      // Signed anew, so that it is the altered value that fails and not the signature.
      expectNoPass(await verify(captcha, { ...challenge, [name]: altered(challenge[name]) }));
    }),
  ),
  ...(['captcha_output', 'pass_token'] as const).map((name) =>
    onSolved(
      `CA-1-swapped-${name}`,
      `the ${name} of another challenge never passes`,
      async (captcha, challenge, solveAnother) => {
        const other = await solveAnother();
        expectNoPass(await verify(captcha, { ...challenge, [name]: other[name] }));
      },
    ),
  ),
  audit('CA-1-elsewhere', 'a captcha id is not served in another region', acrossRegions, async (target) => {
    for (const { home, node } of REGION_PAIRS) {
      const [captcha, { url }] = [target.captchas[home], target.captchas[node]];
      expectNoPass(await verify({ ...captcha, url }, await target.solve(captcha)));
    }
  }),
];

/** Codes where 7.2 names one for a missing parameter. No reason of 7.1 fits the others, so they raise any exception. */
const REQUIRED = [
  ['captcha_id', '-50101'],
  ['lot_number', '-50302'],
  ['captcha_output', undefined],
  ['pass_token', undefined],
  ['gen_time', undefined],
] as const;

/** Spoilt forms of a genuine gen_time: a service that reads past the flaw would let the challenge pass. */
const NOT_DIGITS: Readonly<Record<string, (genTime: string) => string>> = {
  letter: (time) => `${time}a`,
  minus: (time) => `-${time}`,
  point: (time) => `${time}.0`,
  exponent: (time) => `${time}e0`,
  hexadecimal: (time) => `0x${Number(time).toString(16)}`,
  'leading-space': (time) => ` ${time}`,
  newline: (time) => `${time}\n`,
  'full-width': (time) => time.replace(/[0-9]/g, (digit) => '０１２３４５６７８９'.charAt(+digit)),
};

const parameterAudits: readonly Audit[] = [
  ...REQUIRED.map(([name, code]) =>
    onSolved(`CA-2.1-${name}`, `a verification without ${name} is no pass`, async (captcha, challenge) => {
      const parameters = parametersOf(captcha, challenge);
      expectException(await submit(captcha, without(parameters, name)), code);
    }),
  ),
  // No code is named for it, and a missing signature is also a wrong one (5): both readings are the document's.
  onSolved('CA-2.1-sign_token', 'a verification without sign_token is no pass', async (captcha, challenge) => {
    const reply = await submit(captcha, without(parametersOf(captcha, challenge), 'sign_token'));
    if (Object(reply.body).status === 'error') expectException(reply);
    else expectFail(reply, 'illegal sign_token');
  }),
  ...Object.entries(NOT_DIGITS).map(([flaw, spoil]) =>
    onSolved(`CA-2.1-digits-${flaw}`, `gen_time with the flaw "${flaw}" is illegal`, async (captcha, challenge) => {
      const gen_time = spoil(challenge.gen_time);
      expectException(await verify(captcha, { ...challenge, gen_time }), '-50005');
    }),
  ),
  ...[1, 31, 33, 64].map((length) =>
    onSolved(`CA-8-length-${length}`, `a captcha_id of ${length} characters is illegal`, async (captcha, challenge) => {
      const captchaId = captcha.captchaId.repeat(2).slice(0, length);
      expectException(await verify({ ...captcha, captchaId }, challenge), '-50102');
    }),
  ),
];

const formatAudits: readonly Audit[] = [
  // The URL is recommended for the id, so it is not the only place for it.
  onSolved('CA-4-id-in-form', 'captcha_id may stand in the form instead', async (captcha, challenge) => {
    const form = new URLSearchParams({ ...parametersOf(captcha, challenge) });
    expectPass(await post(captcha, {}, form.toString()));
  }),
  onSolved('CA-4-charset', 'form data may name its charset', async (captcha, challenge) => {
    const { captcha_id, ...form } = parametersOf(captcha, challenge);
    const contentType = 'application/x-www-form-urlencoded; charset=UTF-8';
    expectPass(await post(captcha, { captcha_id }, new URLSearchParams(form).toString(), contentType));
  }),
  onSolved('CA-4-json', 'a JSON body is a wrong format', async (captcha, challenge) => {
    const { captcha_id, ...form } = parametersOf(captcha, challenge);
    expectException(await post(captcha, { captcha_id }, JSON.stringify(form), 'application/json'), '-50005');
  }),
  onSolved('CA-4-mislabelled', 'form data under another Content-Type is a wrong format', async (captcha, challenge) => {
    for (const contentType of ['application/json', 'text/plain']) {
      const { captcha_id, ...form } = parametersOf(captcha, challenge);
      const reply = await post(captcha, { captcha_id }, new URLSearchParams(form).toString(), contentType);
      expectException(reply, '-50005');
    }
  }),
  // How GET places its parameters is not shown. A choice: with all six in the query, the answer is at least of the
  // documented kind.
  onSolved('CA-4-get', 'GET is answered with a documented status', async (captcha, challenge) => {
    const { body } = await get(captcha, { ...parametersOf(captcha, challenge) });
    expect(['success', 'error']).toContain(Object(body).status);
  }),
];

export const requestAudits: readonly Audit[] = [...genuineAudits, ...parameterAudits, ...formatAudits];
