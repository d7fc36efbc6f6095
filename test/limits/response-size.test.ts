import { afterAll, expect, test } from 'vitest';
import { ANDROID, altered, errorEnvelope, SIGNAL, spliced, WEB } from '../faults/documented.ts';
import { linesOf } from '../observability/support.ts';
import { startInLiveMode } from '../support/app.ts';
import { ENTITIES_QUERY, entitiesQuery, referencesTo } from '../support/graphql.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { startUpstream } from '../support/upstream.ts';

/** However much the fingerprint service sends, one operation reads, keeps and writes a bounded part of it. */

const QUARTER_MB = 250_000;
const list = (count: number, item: string) => `[${Array(count).fill(item).join(',')}]`;
/** On the company's blacklist, which its name does not say. */
const BLACKLISTED = [{ signal: 'WHITELIST_IP', level: 'HIGH', confidence: 1 }];
const LISTED = { ...ANDROID, data: { ...ANDROID.data, signals: BLACKLISTED } };
const listed = (json: string) =>
  spliced({ ...WEB, data: { ...WEB.data, signals: BLACKLISTED } }, 'data.detail.device_basic.browser', json);
const keys = (count: number) => times(count, (at) => `"k${at}":1`).join(',');
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const WITHIN_LIMITS = `{${keys(80)},"a":${nested(31)}}`;
const SIXTY = `{"name":"F","model":"${'m'.repeat(700)}",${times(60, (at) => `"key_${at}":"${'v'.repeat(30)}"`).join()}}`;
const signals = (count: number) => spliced(ANDROID, 'data.signals', list(count, JSON.stringify(SIGNAL)));
const errors = (count: number, item: string) =>
  errorEnvelope(400, 'Invalid request').replace('{}', () => `{"errors":${list(count, item)}}`);
const ERROR = '{"field":"event_time","reason":"r","type":"t"}';

/** What the service says about each token. A number at the end of a token only makes it another one. */
const ANSWERS: Readonly<Record<string, string>> = {
  usual: JSON.stringify(ANDROID),
  long: altered(ANDROID, 'data.fp_detail.version', 'v'.repeat(QUARTER_MB)),
  'too long': altered(ANDROID, 'data.fp_detail.version', 'v'.repeat(300_000)),
  extra: spliced({ ...ANDROID, undocumented: null }, 'undocumented', list(80_000, '{}')),
  '200 signals': signals(200),
  '201 signals': signals(201),
  '80,000 broken signals': spliced(ANDROID, 'data.signals', list(80_000, '{}')),
  '200 errors': errors(200, ERROR),
  '201 errors': errors(201, ERROR),
  '80,000 broken errors': errors(80_000, '{}'),
  'within limits': listed(WITHIN_LIMITS),
  '60 keys and a model of 700 characters': listed(SIXTY),
  'a quarter of a megabyte': listed(`{"name":"F",${times(2_400, (at) => `"key ${at}":"${'v'.repeat(80)}"`).join()}}`),
  '1,100 keys': listed(`{"name":"F",${keys(1_100)}}`),
  '17,000 characters': listed(`{"x":"${'x'.repeat(17_000)}","name":"F"}`),
  'a name of 17,000 characters': listed(`{"name":"${'x'.repeat(17_000)}","version":"1"}`),
  'a key of 17,000 characters': listed(`{"${'x'.repeat(17_000)}":1,"name":"F"}`),
  '33 levels': listed(`{"name":"F","a":${nested(32)}}`),
  'a model of 17,000 characters': altered(LISTED, 'data.detail.device_basic.mod', `x${'📱'.repeat(17_000)}`),
};

const upstream = await startUpstream(({ body }, response) => {
  const { device_token: token } = JSON.parse(body);
  const answer = ANSWERS[token.replace(/#.*/, '')] ?? '';
  response.writeHead(JSON.parse(answer).code, { 'content-type': 'application/json' }).end(answer);
});
const app = await startInLiveMode(upstream.url, { sealingKeys: SEALING_KEYS });
afterAll(() => Promise.all([app.stop(), upstream.stop()]));

const BASIC = 'deviceBasic { ... on Web { browser { name version additional } } ... on Mobile { model os { name } } }';
const STORED = `query ($sealed: String!) { _entities(representations: [{ __typename: "DeviceJudgement", sealed: $sealed }]) {
  ... on DeviceJudgement { decision { action } isShortened ${BASIC} } } }`;

const numbered = (count: number, token: string) => times(count, (at) => `${token}#${at}`);

test('all answers to one operation have 768 KiB together beside 8 KiB for each: what does not fit has an error of its own, and everything else is whole', async () => {
  // Three answers of 250,000 bytes fit, and no usual one is kept out.
  const tokens = [...numbered(30, 'long'), ...numbered(60, 'usual')];
  const { data, errors: failed = [], text } = await ask(app.graphqlUrl, entitiesQuery('version'), referencesTo(tokens));
  const [long, usual] = [data._entities.slice(0, 30), data._entities.slice(30)];
  expect(usual).toEqual(Array(60).fill({ version: '1.0' }));
  expect(long.filter(Boolean).length).toBe(3);
  expect(failed.length).toBe(long.filter((device: unknown) => device === null).length);
  expect(failed[0]).toMatchObject({
    message: expect.stringContaining('Request less at once'),
    extensions: { code: 'OVERLOADED', retryable: false },
  });
  expect(text.length).toBeLessThan(4.5 * 1024 * 1024);
  // Nothing that a caller asks for makes documented answers this long.
  expect(linesOf(app).filter(({ code }) => code === 'OVERLOADED')).toMatchObject([{ level: 'warn' }]);
});

test('answers that are too long each take nothing from their neighbours', async () => {
  const tokens = [...numbered(20, 'too long'), 'long', 'usual'];
  const { data, errors: failed } = await ask(app.graphqlUrl, entitiesQuery('version'), referencesTo(tokens));
  const [long, usual] = data._entities.slice(20);
  expect([long.version.length, usual]).toEqual([QUARTER_MB, { version: '1.0' }]);
  const codes = failed?.map(({ extensions }) => extensions.code);
  expect(codes).toEqual(Array(20).fill('UPSTREAM_PROTOCOL_ERROR'));
});

test('all answers to one operation may be documented ones of 100 devices with every signal, and one with much that is undocumented', async () => {
  const tokens = [...numbered(99, '200 signals'), 'extra'];
  const { data, errors: failed } = await ask(app.graphqlUrl, entitiesQuery('version'), referencesTo(tokens));
  expect(failed).toBeUndefined();
  expect(data._entities).toHaveLength(100);
});

const REFUSED = { code: 'UPSTREAM_PROTOCOL_ERROR', retryable: false };
test.each([
  ['200 signals', '201 signals'],
  ['200 signals', '80,000 broken signals'],
])('of one device %s are passed on, %s are not, and its neighbour is whole', async (passed, refused) => {
  const tokens = [passed, refused, 'usual'];
  const { data, errors: failed } = await ask(app.graphqlUrl, ENTITIES_QUERY, referencesTo(tokens));
  expect(data._entities).toMatchObject([{ version: '1.0' }, null, { version: '1.0' }]);
  expect(failed).toMatchObject([{ path: ['_entities', 1], extensions: REFUSED }]);
});

const JUDGED = `... on DeviceFingerprint {
    decision { action } judgement { sealed isShortened decision { action } ${BASIC} } ${BASIC}
  }`;

const whole = (token: string) => {
  const { browser, mod, os } = JSON.parse(ANSWERS[token] ?? '').data.detail.device_basic;
  if (!browser) return { model: mod, os: { name: os } };
  const { name = null, version = null, ...additional } = browser;
  return { browser: { name, version, additional: Object.keys(additional).length > 0 ? additional : null } };
};

test.each([
  ['60 keys and a model of 700 characters', false],
  ['1,100 keys', true],
  ['17,000 characters', true],
  ['a name of 17,000 characters', true],
  ['a key of 17,000 characters', true],
  ['33 levels', false],
  ['a model of 17,000 characters', true],
  ['a quarter of a megabyte', true],
  ['within limits', false],
])(
  '%s of the own report of a device arrive whole, and its sealed text says whether it is shortened',
  async (token, isShortened) => {
    const { data, errors } = await ask(app.graphqlUrl, `{ deviceFingerprint(token: "${token}") { ${JUDGED} } }`);
    expect(errors).toBeUndefined();
    const { decision, judgement, deviceBasic } = data.deviceFingerprint;
    expect(deviceBasic).toEqual(whole(token));
    expect([decision, judgement.decision]).toEqual([{ action: 'DENY' }, { action: 'DENY' }]);
    expect([judgement.deviceBasic, judgement.isShortened]).toEqual([deviceBasic, isShortened]);
    expect(judgement.sealed.length).toBeLessThanOrEqual(8_192);
    const opened = await ask(app.graphqlUrl, STORED, { sealed: judgement.sealed });
    const [record] = opened.data._entities;
    expect(record).toMatchObject({ decision: { action: 'DENY' }, isShortened });
    if (!isShortened) expect(record.deviceBasic).toEqual(deviceBasic);
    else expect(JSON.stringify(record.deviceBasic).length).toBeLessThan(JSON.stringify(deviceBasic).length);
  },
);

test.each(['201 errors', '80,000 broken errors'])('200 errors are passed on, and %s are not', async (refused) => {
  const judge = (token: string) =>
    `deviceFingerprint(token: "${token}") { ... on DeviceFingerprintRejected { errors { field } } }`;
  const { data, errors: failed } = await ask(app.graphqlUrl, `{ a: ${judge('200 errors')} b: ${judge(refused)} }`);
  expect(data.a.errors).toHaveLength(200);
  expect(failed).toMatchObject([{ path: ['b'], extensions: REFUSED }]);
});
