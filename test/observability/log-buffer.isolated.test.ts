import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bufferLines, linesDropped } from '../../src/observability/logger.ts';

/** When lines are written, and when they are dropped. */

const MEBIBYTE = 1024 * 1024;
const LINES = 5_000;

test('lines are dropped while nothing reads the log, and a warning counts them when it is read again', async () => {
  const before = linesDropped();
  const stream = new PassThrough();
  const { write } = bufferLines(stream, new PassThrough());
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
  const lines = (await read)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const warning = lines.findIndex(({ level }) => level === 'warn');
  expect(lines.slice(0, warning)).toMatchObject(Array.from({ length: warning }, (_, at) => ({ at })));
  expect(warning).toBeGreaterThan(900);
  // The last lines were still in the buffer when reading started again, so they were not dropped.
  expect(lines[warning]).toEqual({
    level: 'warn',
    time: expect.any(String),
    dropped: LINES + 2 - lines.length,
    msg: expect.stringContaining('dropped'),
  });
  expect(linesDropped() - before).toBe(LINES + 2 - lines.length);
  expect(lines.at(-1)).toEqual({ at: 'the end' });
  expect(Date.now() - Date.parse(lines[warning].time)).toBeLessThan(5_000);
});

test('lines are written together, at once when they are many', async () => {
  const writes: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      writes.push(String(chunk));
      done();
    },
  });
  const { write } = bufferLines(stream, new PassThrough());
  for (const line of ['1\n', '2\n', '3\n']) write(line);
  expect(writes).toEqual([]);
  await expect.poll(() => writes).toEqual(['1\n2\n3\n']);
  const long = `${'x'.repeat(20_000)}\n`;
  write(long);
  expect(writes.at(-1)).toBe(long);
});
