import fc from 'fast-check';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { loggerOptions } from '../../src/observability/logger.ts';
import { type OperationLine, writeOperation } from '../../src/observability/operation-line.ts';

/** The line of an operation is what the logger itself would write. */

function startLog(level: string) {
  const lines: string[] = [];
  return { log: pino({ ...loggerOptions(), level }, { write: (line: string) => lines.push(line) }), lines };
}

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

test('it is the same byte for byte', () => {
  fc.assert(
    fc.property(line, (fields) => {
      const { log, lines } = startLog('info');
      writeOperation(log, fields);
      log.info(fields, 'operation');
      const [ours = '', theirs = ''] = lines.map(withoutTime);
      expect(ours).toBe(theirs);
      expect(JSON.parse(ours)).toMatchObject({ level: 'info', requestId: fields.requestId, msg: 'operation' });
    }),
    { numRuns: 2_000 },
  );
});

test.each(['warn', 'error', 'silent'])('at level %s there is none', (level) => {
  const { log, lines } = startLog(level);
  for (const fields of fc.sample(line, 3)) writeOperation(log, fields);
  expect(lines).toEqual([]);
});
