import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { bufferLines } from '../../src/observability/log-buffer.ts';

/** What becomes of lines that nobody reads. */

const MEBIBYTE = 1024 * 1024;
const LINES = 5_000;

test('a log that nobody reads takes little memory, and says how much of it is missing once it is read', async () => {
  const stream = new PassThrough();
  const { write } = bufferLines(stream, new PassThrough());
  for (let at = 0; at < LINES; at += 1) write(`{"at":${at},"rest":"${'x'.repeat(1_000)}"}\n`);
  expect(stream.writableLength + stream.readableLength).toBeLessThan(1.2 * MEBIBYTE);

  const read = text(stream);
  await sleep(10);
  write('{"at":"the end"}\n');
  await sleep(300);
  stream.end();
  const lines = (await read)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const warning = lines.findIndex(({ level }) => level === 'warn');
  expect(lines.slice(0, warning)).toMatchObject(Array.from({ length: warning }, (_, at) => ({ at })));
  expect(warning).toBeGreaterThan(900);
  // All but the dropped ones: what came last was not written yet when it was read again.
  expect(lines[warning]).toEqual({
    level: 'warn',
    time: expect.any(String),
    dropped: LINES + 2 - lines.length,
    msg: expect.stringContaining('dropped'),
  });
  expect(lines.at(-1)).toEqual({ at: 'the end' });
  expect(Date.now() - Date.parse(lines[warning].time)).toBeLessThan(5_000);
});
