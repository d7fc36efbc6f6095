import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { send } from '../../src/server/response.ts';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { request } from '../support/requests.ts';

/** What is sent arrives whole, however large it is. */

test.each([1, 65_536, 65_537, 1_000_000])('a body of %i characters of two bytes each', async (characters) => {
  const body = 'ä'.repeat(characters);
  const server = createServer((_request, response) => send(response, 200, { 'x-other': 'kept' }, body));
  onTestFinished(() => closeAtOnce(server));
  const { text, headers } = await request(`http://127.0.0.1:${await listen(server)}`);
  expect(text === body).toBe(true);
  const names = ['content-length', 'cache-control', 'x-other'];
  expect(names.map((name) => headers.get(name))).toEqual([`${characters * 2}`, 'no-store', 'kept']);
});
