import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { loggerOptions } from '../../src/observability/logger.ts';
import { type OperationLine, writeOperation } from '../../src/observability/operation-line.ts';
import { RepeatLimit } from '../../src/observability/repeat-limit.ts';

/** What a log line may have in it, the line of an operation, and how many lines of one cause are written. */

const CANARY = 'tok_canary_9f8e7d';

function startLog(level = 'trace') {
  const lines: string[] = [];
  return { log: pino({ ...loggerOptions(), level }, { write: (line: string) => lines.push(line) }), lines };
}

test.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)(
  'a line at %s has allowed fields alone',
  (level) => {
    const { log, lines } = startLog();
    log[level](
      { token: CANARY, headers: { authorization: CANARY }, variables: [CANARY], err: new Error(CANARY), ms: 5 },
      'a line',
    );
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), ms: 5, msg: 'a line' },
    ]);
  },
);

test.each<[string, (log: ReturnType<typeof startLog>['log'], error: Error) => void]>([
  ['without a message', (log, error) => log.error(error)],
  ['with a message', (log, error) => log.error(error, 'a line')],
  ['as a value in a message', (log, error) => log.error('a line about %s', error)],
  ['as a field', (log, error) => log.error({ error })],
  ['as the field err', (log, error) => log.error({ err: error })],
])('an error that is logged %s has a name and frames at most, and no message', (_how, write) => {
  const { log, lines } = startLog();
  write(log, Object.assign(new TypeError(CANARY, { cause: new Error(CANARY) }), { input: CANARY }));
  expect(lines).toHaveLength(1);
  const { level, error } = JSON.parse(lines[0] ?? '');
  expect(level).toBe('error');
  if (error) expect(error).toEqual({ name: 'TypeError', frames: expect.arrayContaining([expect.any(String)]) });
  expect(lines[0]).not.toContain(CANARY);
});

test('no line of an error message is taken for a frame, even if it looks like one', () => {
  const { log, lines } = startLog();
  log.error(new Error(`first line\n    at ${CANARY} (/nowhere.ts:1:1)\n    at ${CANARY}`), 'a line');
  expect(JSON.parse(lines[0] ?? '').error.frames.length).toBeGreaterThan(1);
  expect(lines[0]).not.toContain(CANARY);
});

/** It is written by hand, and has to be what the logger itself would write. */
describe('the line of an operation', () => {
  // Lone surrogates, control characters and what would break a line are among them.
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  const orNothing = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined });
  const count = fc.nat(100_000);

  const line: fc.Arbitrary<OperationLine> = fc.record({
    requestId: text,
    traceId: orNothing(text),
    caller: text,
    operation: orNothing(text),
    client: orNothing(text),
    clientVersion: orNothing(text),
    outcomes: fc.dictionary(fc.constantFrom('DeviceFingerprint', 'CaptchaPassed'), count),
    errors: orNothing(fc.array(text)),
    upstreamCalls: count,
    upstreamMs: count,
    ms: count,
    sample: orNothing(fc.double({ min: 0, max: 1, noNaN: true })),
    tokens: orNothing(fc.array(text)),
  });

  /** The time differs. */
  const withoutTime = (written: string) => written.replace(/(?<="time":")[^"]{24}(?=")/, '');

  test('is the same byte for byte', () => {
    fc.assert(
      fc.property(line, (fields) => {
        const { log, lines } = startLog('info');
        writeOperation(log, fields);
        log.info(fields, 'operation');
        const [ours = '', theirs = ''] = lines.map(withoutTime);
        expect(ours).toBe(theirs);
        expect(JSON.parse(ours)).toMatchObject({ level: 'info', requestId: fields.requestId, msg: 'operation' });
      }),
      { numRuns: 500 },
    );
  });

  test.each(['warn', 'error', 'silent'])('is not there at level %s', (level) => {
    const { log, lines } = startLog(level);
    for (const fields of fc.sample(line, 3)) writeOperation(log, fields);
    expect(lines).toEqual([]);
  });
});

describe('the limit of lines for one cause', () => {
  /** What a limit admits of these causes, and what it reports when the window ends. */
  function tryOut(causes: readonly string[], limit = new RepeatLimit()) {
    const reported: [cause: string, leftOut: number, isMixed: boolean][] = [];
    const admitted = causes.filter((cause) =>
      limit.admits(cause, (leftOut, isMixed) => void reported.push([cause, leftOut, isMixed])),
    );
    limit.flush();
    return { admitted, reported };
  }

  test('admits ten lines of a cause in each window, and reports the rest', () => {
    const limit = new RepeatLimit();
    for (const _window of [1, 2]) {
      const { admitted, reported } = tryOut(
        [...Array(1_000).fill('a'), ...Array(10).fill('b'), ...Array(11).fill('c')],
        limit,
      );
      expect(admitted).toEqual([...Array(10).fill('a'), ...Array(10).fill('b'), ...Array(10).fill('c')]);
      expect(reported).toEqual([
        ['a', 990, false],
        ['c', 1, false],
      ]);
    }
  });

  test('counts at most a hundred causes apart, however many there are', () => {
    const { admitted, reported } = tryOut(Array.from({ length: 5_000 }, (_, at) => `cause ${at}`));
    expect(admitted).toHaveLength(110);
    expect(reported).toEqual([['cause 100', 4_890, true]]);
  });
});
