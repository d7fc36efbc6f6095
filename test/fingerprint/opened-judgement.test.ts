import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJudgements, newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { RECORDED_ROWS, SIGNALS_BY_NAME } from '../../src/fingerprint/signal-catalogue.ts';
import { OLD_KEY, SEALING_KEYS, sealRecord } from '../support/judgements.ts';

/** Which sealed texts open, also years later, and which do not. `jose`, an independent implementation of JWE (RFC 7516), seals them. */

const UNCOUNTED = { recordJudgement: () => {} };
const judgements = createJudgements(SEALING_KEYS, UNCOUNTED);

/** A record of version 1. */
const GOOD = {
  v: 1,
  at: '2026-11-22T02:03:04Z',
  pk: 'pk_shop',
  ids: ['req', 'evt', '1.0', 'd'],
  ip: '203.0.113.7',
  client: 'IOS',
  mobile: ['iOS', '18', 'arm64', 'iPhone'],
  signals: ['EMULATOR', ['EMULATOR', 'LOW', 0.5]],
};
const UNREADABLE = 'cannot be opened';
const sealed = await sealRecord(JSON.stringify(GOOD));

test('the rows that records of versions 1 and 2 leave out are those of 0.6.0: a new or changed signal is a row of its own', () => {
  // An older release would not open a record that leaves out a row it does not have.
  expect(createHash('sha256').update(JSON.stringify(RECORDED_ROWS)).digest('hex')).toMatch(/^76c5f140f2857bd3/);
});

test('a record opens, also one that is longer than those of today, but of at most 262,144 characters', async () => {
  expect(judgements.open(sealed)).toMatchObject({ eventId: 'evt', device: { id: 'd' } });
  const ofBytes = (bytes: number) => sealRecord(JSON.stringify(GOOD).padEnd(bytes));
  expect(judgements.open(await ofBytes(196_462)).sealed).toHaveLength(262_144);
  expect(judgements.open.bind(undefined, await ofBytes(196_463))).toThrow(UNREADABLE);
});

describe('a sealed judgement that was changed', () => {
  /** Fails for any text that opens. */
  const refuse = (text: string, what = text) => {
    expect(() => judgements.open(text), what).toThrow(UNREADABLE);
  };

  test('a sealed judgement with any character changed is not opened', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      for (const other of ['A', 'B', '_', '.', ' ', '=', 'é']) {
        if (sealed[at] !== other) refuse(sealed.slice(0, at) + other + sealed.slice(at + 1), `${other} at ${at}`);
      }
    }
  });

  test('a sealed judgement that is cut, extended or padded anywhere is not opened', () => {
    for (let at = 0; at < sealed.length; at += 1) {
      refuse(sealed.slice(0, at));
      refuse(sealed.slice(at + 1));
      for (const more of ['A', '=', '\n', '.A'])
        refuse(sealed.slice(0, at) + more + sealed.slice(at), `${more} at ${at}`);
    }
    for (const more of ['.', '==', '\n', 'AAAA', '.AAAA']) refuse(sealed + more);
  });

  test('any text that was not sealed is not opened', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => refuse(text)));
    for (const text of ['', '....', '.'.repeat(200_000), 'A'.repeat(10_000_000)]) refuse(text, 'a long text');
  });

  test.each<[string, Record<string, unknown>, { readonly k: string }?]>([
    ['another type', { typ: 'JWT' }],
    ['no type', { typ: undefined }],
    ['another encryption of the content', { enc: 'A256CBC-HS512' }],
    ['another wrapping', { alg: 'A256GCMKW' }],
    ['no wrapping', { alg: 'dir' }],
    ['the password wrapping', { alg: 'PBES2-HS256+A128KW' }],
    ['the name of no key', { kid: 'lost' }],
    ['no name of a key', { kid: undefined }],
    ['the name of another key', { kid: OLD_KEY.kid }],
    ['a key that is not ours', {}, newSealingKey()],
    ['one more parameter', { cty: 'json' }],
  ])('a JWE with %s is not opened', async (_what, changes, key) =>
    refuse(await sealRecord(JSON.stringify(GOOD), changes, key)),
  );
});

describe('a sealed text that is no record', () => {
  test.each<[string, unknown]>([
    ['a later version', { ...GOOD, v: 3 }],
    ['no version', { ...GOOD, v: undefined }],
    ['a key that the version does not have', { ...GOOD, token: 't' }],
    ['no time', { ...GOOD, at: undefined }],
    ['a time that is none', { ...GOOD, at: 'yesterday' }],
    ['too few ids', { ...GOOD, ids: GOOD.ids.slice(1) }],
    ['another kind of client', { ...GOOD, client: 'WEB_H5' }],
    ['a newer client with the machine of an app', { ...GOOD, client: 'OTHER' }],
    ['an app with a browser', { ...GOOD, web: { browser: {}, device: {}, os: {} } }],
    ['a page on the machine of an app', { ...GOOD, client: 'WEB_H5', web: { browser: {}, device: {}, os: {} } }],
    ['a signal by its name alone that version 1 does not know', { ...GOOD, signals: ['NEWER'] }],
    ['a level that is none', { ...GOOD, signals: [['EMULATOR', 'SEVERE', 1]] }],
    ['a confidence that is a percentage', { ...GOOD, signals: [['EMULATOR', 'HIGH', 95]] }],
    ['an action that is none', { ...GOOD, decision: ['WAIT', 'rule', 'policy'] }],
    ['no object', 'text'],
  ])('a sealed record with %s is unreadable', async (_what, record) => {
    const sealed = await sealRecord(JSON.stringify(record));
    expect(() => judgements.open(sealed)).toThrow(UNREADABLE);
  });

  test.each([
    ['the begin of an object', '{'],
    ['a text', 'text'],
    // Nesting of any depth never ends the process.
    ['60,000 levels', `{"v":1,"web":${'['.repeat(60_000)}${']'.repeat(60_000)}}`],
  ])('a sealed text that is %s is unreadable', async (_what, record) => {
    const sealed = await sealRecord(record);
    expect(() => judgements.open(sealed)).toThrow(UNREADABLE);
  });
});

describe('records of every version', () => {
  const FOLDER = join(import.meta.dirname, '../fixtures');
  const FILES = readdirSync(FOLDER).filter((file) => /^judgement-v\d+\./.test(file));

  test('there are records of every version that was ever sealed: of both kinds of device, and a shortened one', () => {
    expect(FILES).toEqual([
      'judgement-v1.android.json',
      'judgement-v1.ios.json',
      'judgement-v1.web.json',
      'judgement-v2.web.json',
    ]);
  });

  describe.each(FILES)('%s', (file) => {
    const { key, sealed, judgement } = JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));

    test('an old record opens with the level and confidence of each signal then, and its meaning and effect now', () => {
      const { signals, ...opened } = createJudgements([key], UNCOUNTED).open(sealed);
      const { signals: then, ...rest } = judgement;
      const isShortened = file.includes('-v2.');
      expect(opened).toEqual({ __typename: 'DeviceJudgement', sealed, isShortened, ...rest });
      const expected = then.map((signal: { readonly name: string }) => {
        const { code = null, effect = null, meaning = null } = SIGNALS_BY_NAME.get(signal.name) ?? {};
        return { ...signal, code, effect, meaning };
      });
      expect(signals).toEqual(expected);
    });
  });
});
