import fc from 'fast-check';
import { compactDecrypt } from 'jose';
import { describe, expect, test } from 'vitest';
import { prepareApplication, toRequest } from '../../src/fingerprint/request.ts';
import { createJudgements, judgementOf } from '../../src/fingerprint/sealed-judgement.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signal-catalogue.ts';
import type { DeviceJudgement, DeviceRiskDecision } from '../../src/schema.generated.ts';
import { NEW_KEY, OLD_KEY, SEALING_KEYS } from '../support/judgements.ts';
import { DATA, outcomeOf } from './support.ts';

/**
 * A sealed judgement says what was judged then. It is a JWE (RFC 7516), of which `jose` is the independent implementation.
 * `opened-judgement.test.ts` has which texts open.
 */

const UNCOUNTED = { recordJudgement: () => {} };
const judgements = createJudgements(SEALING_KEYS, UNCOUNTED);
const bytesOf = ({ k }: { readonly k: string }) => Buffer.from(k, 'base64url');
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
  const request = toRequest(
    { token: TOKEN, metadata: METADATA, eventType: eventType ?? null },
    { find: () => application },
  );
  const outcome = outcomeOf(request, { status: 200, json: { code: 200, message: 'Success', data } }, Date.now());
  if (outcome.__typename !== 'DeviceFingerprint') throw new Error(`expected a device, but got ${outcome.__typename}`);
  const judgement = { ...judgementOf(outcome, subject), decision };
  const sealed = by.seal(judgement);
  if (sealed instanceof Error) throw sealed;
  return { ...judgement, ...sealed };
}

/** The judgement as the graph shows it, where a text that a page did not report is null. */
function inGraph({ deviceBasic, ...judgement }: DeviceJudgement) {
  if (deviceBasic?.__typename !== 'Web') return { ...judgement, deviceBasic };
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
  level: fc.constantFrom('LOW', 'MEDIUM', 'HIGH', 'CRITICAL'),
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
const newer = fc.record({ client_type: name, device_basic: json, ip_info: fc.record({ ip: text }) });
/** What the fingerprint service may answer, as it comes from JSON. */
const data = fc
  .record({
    request_id: name,
    event_id: name,
    fp_detail: fc.record({ device_id: name, version: text }),
    signals: fc.array(fc.oneof(signal, knownSignal), { maxLength: 15 }),
    detail: fc.oneof(mobile, page, newer),
  })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll(':-0', ':0')));
const decision = fc.record({
  action: fc.constantFrom('ALLOW' as const, 'CHALLENGE' as const, 'DENY' as const),
  rule: text,
  policy: text,
});
const eventType = fc.string({ unit: 'binary', maxLength: 20 });
const circumstances = fc.record({ subject: text, eventType, decision }, { requiredKeys: [] });

describe('a judgement of whatever the service may answer', () => {
  test('a judgement is the same after it was sealed and opened, by this replica and by another', () => {
    const other = createJudgements([OLD_KEY, NEW_KEY], UNCOUNTED);
    fc.assert(
      fc.property(data, circumstances, (answer, given) => {
        const judgement = judge(answer, given);
        expect(judgements.open(judgement.sealed)).toEqual(inGraph(judgement));
        expect(other.open(judgement.sealed)).toEqual(inGraph(judgement));
        const another = judge(answer, given, other);
        expect(judgements.open(another.sealed)).toEqual(inGraph(another));
      }),
      { numRuns: 100 },
    );
  });

  test('a sealed judgement is a JWE with the documented header, whose text has neither the token nor the metadata', async () => {
    await fc.assert(
      fc.asyncProperty(data, circumstances, async (answer, given) => {
        const { plaintext, protectedHeader } = await compactDecrypt(judge(answer, given).sealed, bytesOf(NEW_KEY));
        expect(protectedHeader).toEqual({ alg: 'A256KW', enc: 'A256GCM', kid: 'new', typ: 'device-judgement+jwe' });
        expect(Buffer.from(plaintext).toString()).toMatch(/^\{"v":1,/);
        expect(Buffer.from(plaintext).toString()).not.toMatch(/canary|13800138000/);
      }),
      { numRuns: 50 },
    );
  });
});

test('a judgement is sealed differently each time', () => {
  const parts = Array.from({ length: 50 }, () => judge(DATA).sealed.split('.'));
  for (const at of [1, 2, 3, 4]) expect(new Set(parts.map((part) => part[at])).size).toBe(50);
});

const LONGEST_KEY = { ...NEW_KEY, kid: 'k'.repeat(64) };

test.each(['x', '"', '\u0001', '💳'])(
  'a sealed judgement has at most 8 KiB, whatever a page and a caller say, in %j',
  (character) => {
    const by = createJudgements([LONGEST_KEY], UNCOUNTED);
    const signals = SIGNAL_CATALOGUE.map(({ code, level }) => {
      return { signal: code, level: level === 'MEDIUM' ? 'HIGH' : 'MEDIUM', confidence: 0.0012345678901234567 };
    });
    const many = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, at) => [character + at, [0, { [character]: '' }]]),
    );
    const fields = { name: 'x', version: '1', major: '1', model: 'x', vendor: character.repeat(300) };
    const device_basic = { browser: { ...many, ...fields }, device: fields, os: fields };
    const detail = { client_type: 'Web/H5', device_basic, ip_info: { ip: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff' } };
    const ids = { request_id: `req_${crypto.randomUUID()}`, event_id: `evt_${crypto.randomUUID()}` };
    const decision = { action: 'CHALLENGE' as const, rule: 'r'.repeat(48), policy: 'p'.repeat(12) };
    const given = { subject: '"'.repeat(256), eventType: '💳'.repeat(4_096), decision };
    const judgement = judge({ ...DATA, ...ids, signals, detail }, given, by);
    expect(judgement.sealed.length).toBeLessThanOrEqual(8_192);
    const { deviceBasic, eventType, ...rest } = by.open(judgement.sealed);
    expect(rest).toEqual({ ...inGraph(judgement), deviceBasic: undefined, eventType: undefined });
    expect(eventType).toMatch(/^(💳){10,}$/u);
    // Whatever is left of the report was reported.
    const kept = deviceBasic?.__typename === 'Web' ? deviceBasic.browser : undefined;
    expect(kept).toMatchObject({ name: 'x', version: '1', major: '1' });
    expect({ ...many, ...fields }).toMatchObject(kept?.additional ?? {});
  },
);

describe('a sealed judgement that is shortened', () => {
  const web = (browser: Record<string, unknown>, os = {}) => ({
    ...DATA,
    detail: { ...DATA.detail, client_type: 'Web/H5', device_basic: { browser, device: {}, os } },
  });
  const opened = (data: unknown, given: Given = {}) => {
    const judgement = judge(data, given, createJudgements([LONGEST_KEY], UNCOUNTED));
    expect(judgement.sealed.length).toBeLessThanOrEqual(8_192);
    const record = createJudgements([LONGEST_KEY], UNCOUNTED).open(judgement.sealed);
    expect(record.isShortened).toBe(judgement.isShortened);
    return { judgement, record };
  };
  const model = 'm'.repeat(700);

  test('a sealed judgement without room for additional values is whole in all else, and is filled', () => {
    const keys = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key ${at}`, 'v'.repeat(200)]));
    const { judgement, record } = opened(web({ name: model, ...keys }, { name: 'Linux', arch: 'x86' }), {
      eventType: 'checkout\n',
    });
    expect(record.isShortened).toBe(true);
    const { additional } = Object(record.deviceBasic).browser;
    const left = Object.keys(additional).length;
    expect(left).toBeGreaterThan(15);
    expect(left).toBeLessThan(30);
    expect(keys).toMatchObject(additional);
    const { deviceBasic, ...rest } = inGraph(judgement);
    const browser = { name: model, version: null, major: null, additional };
    expect(record).toEqual({ ...rest, deviceBasic: { ...deviceBasic, browser } });
    expect(judgement.deviceBasic).toMatchObject({ browser: { additional: keys } });
  });

  test('a sealed judgement without room for a large value keeps the small ones beside it, and a key such as `__proto__`', () => {
    const given = JSON.parse(`{"large":"${'x'.repeat(9_000)}","__proto__":{"a":1},"constructor":2,"name":"F"}`);
    const { record } = opened(web(given));
    expect([record.isShortened, Object.entries(Object(record.deviceBasic).browser.additional)]).toEqual([
      true,
      [
        ['__proto__', { a: 1 }],
        ['constructor', 2],
      ],
    ]);
  });

  test('a sealed judgement without room for long texts has the begin of each, and all identifiers and the decision', () => {
    const device_basic = { os: 'o'.repeat(5_000), pla: '💳'.repeat(5_000), mod: '"'.repeat(5_000), osv: '15' };
    const { judgement, record } = opened({ ...DATA, detail: { ...DATA.detail, device_basic } });
    expect(record).toEqual({
      ...inGraph(judgement),
      deviceBasic: {
        __typename: 'Mobile',
        os: { name: expect.stringMatching(/^o{48}$/), version: '15' },
        architecture: expect.stringMatching(/^(💳){24}$/u),
        model: expect.stringMatching(/^"{48}$/),
      },
    });
    expect([judgement.isShortened, record.decision]).toEqual([true, DECISION]);
  });

  test('a sealed judgement without room for signals has those that fit, the first ones first', () => {
    const signals = Array.from({ length: 200 }, (_, at) => ({
      signal: `S${at}`.padEnd(100, 'x'),
      level: 'LOW',
      confidence: 1,
    }));
    const { judgement, record } = opened({ ...DATA, signals });
    const count = record.signals?.length ?? 0;
    expect(count).toBeGreaterThan(30);
    expect(record).toEqual({ ...inGraph(judgement), signals: judgement.signals?.slice(0, count), isShortened: true });
  });

  test('a sealed judgement without room leaves out the lowest signals first, wherever they are', () => {
    const long = (level: string) => (_: unknown, at: number) => ({
      signal: `${level}${at}`.padEnd(90, 'x'),
      level,
      confidence: 1,
    });
    const low = Array.from({ length: 150 }, long('LOW'));
    const last = ['MEDIUM', 'HIGH'].map((level) => long(level)(undefined, 0));
    const { record } = opened({ ...DATA, signals: [...low, ...last] });
    expect(record.signals?.slice(-2).map(({ level }) => level)).toEqual(['MEDIUM', 'HIGH']);
    expect(record.signals?.length).toBeLessThan(100);
  });

  test('a judgement whose identifiers do not fit is not sealed: a shortened one would be of another device', () => {
    const fp_detail = { device_id: 'd'.repeat(9_000), version: '1.0' };
    expect(() => judge({ ...DATA, fp_detail })).toThrow('response that its contract does not allow');
  });

  test('a sealed judgement is of version 2 if it is shortened, and else of version 1, which releases up to 0.6.0 open', async () => {
    const longest = async (length: number) => {
      const { sealed, isShortened } = judge({ ...DATA, signals: [] }, { eventType: 'e'.repeat(length) });
      const { plaintext } = await compactDecrypt(sealed, bytesOf(NEW_KEY));
      return { length: sealed.length, isShortened, v: JSON.parse(Buffer.from(plaintext).toString()).v };
    };
    let length = 5_000;
    while (!(await longest(length + 1)).isShortened) length += 1;
    expect(await longest(length)).toEqual({
      length: expect.toSatisfy((all) => all > 8_188 && all <= 8_192),
      isShortened: false,
      v: 1,
    });
    expect(await longest(length + 1)).toMatchObject({ isShortened: true, v: 2 });
  });
});
