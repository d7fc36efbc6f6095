import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { CompactEncrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { prepareApplication, toRequest } from '../../src/fingerprint/client.ts';
import { createJudgements } from '../../src/fingerprint/judgement.ts';
import { JudgementBox } from '../../src/fingerprint/judgement-box.ts';
import { toOutcome } from '../../src/fingerprint/outcome.ts';
import { findSignal, SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import type { DeviceJudgement, DeviceRiskDecision } from '../../src/schema.generated.ts';
import { NEW_KEY, OLD_KEY, SEALING_KEYS } from '../support/judgements.ts';
import { DATA } from './support.ts';

/** A sealed judgement says what was judged then, whole and unchanged, or nothing, also years later. */

const box = new JudgementBox('device-judgement+jwe', SEALING_KEYS);
const judgements = createJudgements(SEALING_KEYS, () => {});
const application = prepareApplication({
  publicKey: 'pk_shop',
  secret: 'sk_canary',
  region: 'GLB',
  baseUrl: 'https://fp.test',
});
const TOKEN = 'token-canary-7f3a';
const METADATA = { email: 'ada.canary@mail.test', phoneNum: '13800138000', additional: { canary: 'extra-canary' } };
const DECISION: DeviceRiskDecision = { action: 'CHALLENGE', rule: 'serious', policy: 'policy-1' };

interface Given {
  readonly subject?: string;
  readonly eventType?: string;
  readonly decision?: DeviceRiskDecision;
}

function judge(data: unknown, { subject, eventType, decision = DECISION }: Given = {}, by = judgements) {
  const request = toRequest({ token: TOKEN, metadata: METADATA, eventType: eventType ?? null }, () => application);
  const outcome = toOutcome(request, { status: 200, json: { code: 200, message: 'Success', data } }, Date.now());
  if (outcome.__typename !== 'DeviceFingerprint') throw new Error(`expected a device, but got ${outcome.__typename}`);
  return by.of(outcome, { subject, decide: () => decision });
}

/** The judgement as the graph shows it, where a text that a page did not report is null. */
function inGraph({ deviceBasic, ...judgement }: DeviceJudgement) {
  if (deviceBasic.__typename !== 'Web') return { ...judgement, deviceBasic };
  const { browser, device, os } = deviceBasic;
  const filled = {
    __typename: 'Web',
    browser: { name: null, version: null, major: null, additional: null, ...browser },
    device: { model: null, vendor: null, additional: null, ...device },
    os: { name: null, version: null, additional: null, ...os },
  };
  return { ...judgement, deviceBasic: filled };
}

const text = fc.string({ unit: 'binary', maxLength: 30 });
const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 30 });
const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const freeForm = (...names: string[]) =>
  fc
    .tuple(
      fc.record(Object.fromEntries(names.map((one) => [one, fc.oneof(text, json)])), { requiredKeys: [] }),
      fc.dictionary(text, json, { maxKeys: 3 }),
    )
    .map(([known, more]) => ({ ...more, ...known }));
const knownSignal = fc
  .constantFrom(...SIGNAL_CATALOGUE)
  .map(({ code, level, confidence }) => ({ signal: code as string, level, confidence }));
const signal = fc.record({
  signal: fc.oneof(
    name,
    knownSignal.map((one) => one.signal),
  ),
  level: fc.constantFrom('LOW' as const, 'MEDIUM' as const, 'HIGH' as const),
  confidence: fc.double({ min: 0, max: 1, noNaN: true }),
});
const mobile = fc.record({
  client_type: fc.constantFrom('Android', 'iOS'),
  device_basic: fc.record({ os: text, pla: text, mod: text, osv: text }),
  ip_info: fc.record({ ip: text }),
});
const page = fc.record({
  client_type: fc.constant('Web/H5'),
  device_basic: fc.record({
    browser: freeForm('name', 'version', 'major'),
    device: freeForm('model', 'vendor'),
    os: freeForm('name', 'version'),
  }),
  ip_info: fc.record({ ip: text }),
});
/** What the fingerprint service may answer, as it comes from JSON. */
const data = fc
  .record({
    request_id: name,
    event_id: name,
    fp_detail: fc.record({ device_id: name, version: text }),
    signals: fc.array(fc.oneof(signal, knownSignal), { maxLength: 60 }),
    detail: fc.oneof(mobile, page),
  })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll('"__proto__":', '"proto":').replaceAll(':-0', ':0')));
const decision = fc.record({
  action: fc.constantFrom('ALLOW' as const, 'CHALLENGE' as const, 'DENY' as const),
  rule: text,
  policy: text,
});
const occasion = fc.record({ subject: text, eventType: text, decision }, { requiredKeys: [] });

describe('whatever the service may answer', () => {
  test('is the same after it was sealed and opened, by this replica and by another', () => {
    const other = createJudgements([OLD_KEY, NEW_KEY], () => {});
    fc.assert(
      fc.property(data, occasion, (answer, given) => {
        const judgement = judge(answer, given);
        expect(judgements.open(judgement.sealed)).toEqual(inGraph(judgement));
        expect(other.open(judgement.sealed)).toEqual(inGraph(judgement));
        const another = judge(answer, given, other);
        expect(judgements.open(another.sealed)).toEqual(inGraph(another));
      }),
      { numRuns: 100 },
    );
  });

  test('has neither the token nor the metadata in its record', () => {
    fc.assert(
      fc.property(data, occasion, (answer, given) => {
        const record = box.open(judge(answer, given).sealed);
        expect(record).toMatch(/^\{"v":1,/);
        expect(record).not.toMatch(/canary|13800138000/);
      }),
    );
  });
});

test('a judgement is sealed when it is asked for, and once', () => {
  const outcomes: string[] = [];
  const counted = createJudgements(SEALING_KEYS, (outcome) => outcomes.push(outcome));
  const judgement = judge(DATA, {}, counted);
  expect([judgement.eventId, outcomes]).toEqual([DATA.event_id, []]);
  expect(judgement.sealed).toBe(judgement.sealed);
  expect(outcomes).toEqual(['sealed']);
});

test('without a key nothing is opened', () => {
  const outcomes: string[] = [];
  const none = createJudgements([], (outcome) => outcomes.push(outcome));
  expect(none.canSeal).toBe(false);
  expect(() => none.open(judge(DATA).sealed)).toThrow('cannot be opened');
  expect(outcomes).toEqual(['unreadable']);
});

test('a device with more to it than a record can hold is not sealed', () => {
  const judgement = judge({ ...DATA, fp_detail: { device_id: 'x'.repeat(200_000), version: '1.0' } });
  expect(() => judgement.sealed).toThrow('response that its contract does not allow');
});

describe('a sealed text that is no record of a known version is unreadable', () => {
  const good = JSON.parse(box.open(judge(DATA).sealed) ?? '');
  const unreadable = (record: string) => () => judgements.open(box.seal(record) ?? '');

  test('this one is readable', () => {
    expect(unreadable(JSON.stringify(good))()).toMatchObject({ eventId: DATA.event_id });
  });

  test.each<[string, unknown]>([
    ['a later version', { ...good, v: 2 }],
    ['version 0', { ...good, v: 0 }],
    ['a version as a text', { ...good, v: '1' }],
    ['no version', { ...good, v: undefined }],
    ['a key that the version does not have', { ...good, token: 't' }],
    ['no time', { ...good, at: undefined }],
    ['a time that is none', { ...good, at: 'yesterday' }],
    ['too few ids', { ...good, ids: good.ids.slice(1) }],
    ['another kind of client', { ...good, client: 'WEB_H5' }],
    ['an unknown kind of client', { ...good, client: 'DESKTOP' }],
    ['two kinds of device', { ...good, web: { browser: {}, device: {}, os: {} } }],
    ['a signal by its name alone that version 1 does not know', { ...good, signals: ['NEWER'] }],
    ['a level that is none', { ...good, signals: [['EMULATOR', 'SEVERE', 1]] }],
    ['a confidence that is a percentage', { ...good, signals: [['EMULATOR', 'HIGH', 95]] }],
    ['an action that is none', { ...good, decision: ['WAIT', 'rule', 'policy'] }],
    ['null', null],
    ['a list', [good]],
    ['a text', 'text'],
  ])('%s', (_what, record) => {
    expect(unreadable(JSON.stringify(record))).toThrow('cannot be opened');
  });

  test.each(['', '{', 'text', '{"v":1}', '\0'])('%j', (record) => {
    expect(unreadable(record)).toThrow('cannot be opened');
  });
});

test('nesting of any depth is read or refused, and never ends the process', async () => {
  const deep = `{"v":1,"web":${'['.repeat(60_000)}${']'.repeat(60_000)}}`;
  const key = Buffer.from(NEW_KEY.k, 'base64url');
  const header = { alg: 'A256KW', enc: 'A256GCM', kid: NEW_KEY.kid, typ: 'device-judgement+jwe' };
  const sealed = await new CompactEncrypt(Buffer.from(deep)).setProtectedHeader(header).encrypt(key);
  expect(() => judgements.open(sealed)).toThrow('cannot be opened');
});

describe('records of every version that was ever sealed open for ever', () => {
  const FOLDER = join(import.meta.dirname, '../fixtures');
  const FILES = readdirSync(FOLDER).filter((file) => /^judgement-v\d+\./.test(file));

  test('version 1 has an app with signals of its own, a page, and every signal that its catalogue had', () => {
    expect(FILES.filter((file) => file.startsWith('judgement-v1.'))).toEqual([
      'judgement-v1.android.json',
      'judgement-v1.ios.json',
      'judgement-v1.web.json',
    ]);
  });

  describe.each(FILES)('%s', (file) => {
    const { key, sealed, judgement } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

    test('opens, with the level and confidence that each signal had then', () => {
      const { signals = [], ...opened } = createJudgements([key], () => {}).open(sealed);
      const { signals: then, ...rest } = judgement;
      expect(opened).toEqual({ __typename: 'DeviceJudgement', sealed, ...rest });
      expect(signals?.map(({ name, level, confidence }) => ({ name, level, confidence }))).toEqual(then);
    });

    test('gives each signal the meaning and the effect that the catalogue has now', () => {
      const { signals } = createJudgements([key], () => {}).open(sealed);
      for (const { name, code, effect, meaning } of signals ?? []) {
        const row = findSignal(name);
        expect([code, effect, meaning]).toEqual([row?.code ?? null, row?.effect ?? null, row?.meaning ?? null]);
      }
    });
  });
});
