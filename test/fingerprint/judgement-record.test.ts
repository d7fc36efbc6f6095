import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createJudgements } from '../../src/fingerprint/judgement.ts';
import { findSignal } from '../../src/fingerprint/signals.ts';

/** Records of every version that was ever sealed open for ever. None of these files is ever changed or removed. */

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
