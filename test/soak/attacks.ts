import { randomBytes } from 'node:crypto';
import { lotNumber, token } from '../bench/tokens.ts';
import { WORKLOADS } from '../bench/workloads.ts';
import { ENTITIES_QUERY } from '../support/graphql.ts';
import { ASKED_FOR, DELETED_ID, PAUSED_ID } from './firewall.ts';

/** What the bot sends. Each function makes the bodies of one attack, which are sent at the same time. */
export type Attack = () => readonly string[];

const many = (count: number, piece: (at: number) => string) => Array.from({ length: count }, (_, at) => piece(at));
const pick = <T>(list: readonly T[]): T => {
  // Sound: no list here is empty.
  return list[Math.floor(Math.random() * list.length)] as T;
};
const references = (count: number, tokenOf: () => string) =>
  Array.from({ length: count }, () => ({ __typename: 'DeviceFingerprint', token: tokenOf() }));
const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const body = (query: string, variables: object = {}) => JSON.stringify({ query, variables });

const { query: VALIDATE, variables } = JSON.parse(WORKLOADS.captcha.body(1));
/** What the widget gave a person; only the lot number differs. */
const SOLVED = variables.input;
/** The bot has solved one challenge itself, and sends it again and again. */
const SPENT = lotNumber(999_999_999);
export const SPEND = body(VALIDATE, { input: { ...SOLVED, lotNumber: SPENT } });

/** A captcha that nobody solved, with these values instead of made-up ones. */
function captcha(changed: object = {}): string {
  const madeUp = { lotNumber: hex(16), captchaOutput: hex(90), passToken: hex(32), genTime: '1772353800' };
  return body(VALIDATE, { input: { ...madeUp, ...changed } });
}

/** Judgements of 100 tokens, each of which needs a socket. */
const hundredTokens = () =>
  body(ENTITIES_QUERY, {
    representations: references(100, () => token(Math.floor(Math.random() * 1e12))),
  });

const entities = (fields: string, representations: readonly unknown[]) =>
  body(`query ($r: [_Any!]!) { _entities(representations: $r) { ... on DeviceFingerprint { ${fields} } } }`, {
    r: representations,
  });

/** About 4 KB of 100 aliases of one fragment, under a name that is never used again. */
function neverRepeated(): string {
  const name = `F${hex(6)}`;
  const fields = many(99, (at) => `a${at}: signalCatalogue { ...${name} }`).join(' ');
  return body(`query Q${name} { ${fields} } fragment ${name} on SignalDefinition { code level confidence effect }`);
}

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'made-up captchas': () => [captcha()],
  'twenty captchas at once': () => many(20, () => captcha()),
  'a captcha that was used before': () => [body(VALIDATE, { input: { ...SOLVED, lotNumber: SPENT } })],
  'a captcha for a deleted id': () => [captcha({ captchaId: DELETED_ID })],
  'a captcha for a paused id': () => [captcha({ captchaId: PAUSED_ID })],
  'a captcha for an unknown id': () => [
    captcha({ captchaId: pick(['z'.repeat(32), '', '__proto__', `${PAUSED_ID}&x=1`]) }),
  ],
  'values that a firewall or the service answers oddly': () => [captcha({ captchaOutput: `ask-${pick(ASKED_FOR)}` })],
  'values for a firewall, ten times': () => {
    const captchaOutput = `ask-${pick(ASKED_FOR)}`;
    return many(10, () => captcha({ captchaOutput }));
  },
  'more parameters in a value': () => [
    captcha({ passToken: `x${pick(['&result=success', '%26lot_number=1', '#', '?'])}` }),
  ],
  'values that no widget gives': () => [
    captcha(
      pick([
        { passToken: '' },
        { captchaOutput: 'x'.repeat(60_000) },
        { lotNumber: 'a\u0000b' },
        { genTime: '0x10' },
        { passToken: null },
      ]),
    ),
  ],
  '1,100 look-ups beside captchas': () => [...many(11, hundredTokens), ...many(20, () => captcha())],
  'a body that is too large': () => [captcha({ captchaOutput: 'x'.repeat(200_000) })],
  'a body that is no JSON': () => [captcha().slice(0, -9)],
  '100 aliases of 1,000 references': () => [
    entities(
      many(100, (at) => `a${at}: signals { meaning }`).join(' '),
      references(1_000, () => 't'),
    ),
  ],
  'a document that is never repeated': () => [neverRepeated()],
  '128 KiB of null references': () => [entities('version', Array(25_000).fill(null))],
  '9,500 unknown keys of metadata': () => [
    body(
      'query ($m: DeviceMetadataInput) { deviceFingerprint(token: "judged-000000000001", metadata: $m) { __typename } }',
      {
        m: Object.fromEntries(many(9_500, (at) => `k${at}`).map((key) => [key, 1])),
      },
    ),
  ],
};

/** A captcha that makes the service throttle everybody's captcha id. */
export const THROTTLED = () => captcha({ captchaOutput: 'ask-throttled' });
/** A captcha that nobody solved. */
export const MADE_UP = () => captcha();
