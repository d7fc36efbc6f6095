import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bufferLines, linesDropped } from '../../src/observability/logger.ts';

/** When lines are written, and when they are dropped. */

const MEBIBYTE = 1024 * 1024;
const LINES = 5_000;

test('lines are dropped and counted while nothing reads the log, and the others are written when it is read again', async () => {
  const before = linesDropped();
  const stream = new PassThrough();
  const { write } = bufferLines(stream);
  for (let at = 0; at < LINES; at += 1) write(`{"at":${at},"rest":"${'x'.repeat(1_000)}"}\n`);
  expect(stream.writableLength + stream.readableLength).toBeLessThan(1.2 * MEBIBYTE);

  let last = '';
  stream.on('data', (chunk) => {
    last = String(chunk).trimEnd().split('\n').at(-1) ?? '';
  });
  const read = text(stream);
  await sleep(10);
  write('{"at":"the end"}\n');
  await expect.poll(() => last).toContain('the end');
  stream.end();
  const written = (await read)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).at);
  expect(written.slice(0, 900)).toEqual(Array.from({ length: 900 }, (_, at) => at));
  expect(written.at(-1)).toBe('the end');
  expect(linesDropped() - before).toBe(LINES + 1 - written.length);
  expect(linesDropped()).toBeGreaterThan(before);
});

test('lines are written together after 100 ms, at once when they are many', () => {
  const writes: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      done();
    },
  });
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { write } = bufferLines(stream);
  for (const line of ['1\n', '2\n', '3\n']) write(line);
  vi.advanceTimersByTime(99);
  expect(writes).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(writes).toEqual(['1\n2\n3\n']);
  const long = `${'x'.repeat(10_000)}\n`;
  for (const line of [long, long]) write(line);
  expect(writes.at(-1)).toBe(long + long);
});

// Docker's and containerd's drivers split a longer line, and a piece is no JSON.
test.each<[string, object]>([
  ['a long text', { msg: 'x'.repeat(40_000), ms: 5 }],
  ['characters of several bytes', { msg: '😀'.repeat(6_000), ms: 5 }],
  ['a long list', { tokens: Array(5_000).fill('a1256d353fd6'), msg: 'operation', ms: 5 }],
  ['many long texts', { ...Array(39).fill('\u0001'.repeat(500)), msg: 'm', ms: 5 }],
])('no log line is longer than 16 KiB, and each is JSON with all its fields: %s', async (_what, fields) => {
  const written: string[] = [];
  const { write } = bufferLines(
    new Writable({ write: (chunk, _encoding, done) => done(void written.push(`${chunk}`)) }),
  );
  write(`${JSON.stringify(fields)}\n`);
  await expect.poll(() => written).toHaveLength(1);
  const [line = ''] = written;
  expect(Buffer.byteLength(line)).toBeLessThanOrEqual(16_384);
  expect(Buffer.byteLength(line)).toBeGreaterThan(4_000);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  const shortened = JSON.parse(line);
  expect(Object.keys(shortened)).toEqual(Object.keys(fields));
  expect(shortened.ms).toBe(5);
  expect(line).toContain('…');
});
