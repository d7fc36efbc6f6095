import { afterAll, describe, expect, test } from 'vitest';
import { openConnection, sendBytes } from '../support/requests.ts';
import { startWithoutUpstreams } from './support.ts';

/** Callers that break the rules of HTTP, or send slowly. */

const app = await startWithoutUpstreams();
afterAll(() => app.stop());
/** Sends these bytes and then one more every 500 ms; gives what came back until the connection was closed. */
async function drip(first: string, again: string): Promise<string> {
  const { socket, closed } = openConnection(app.url, first);
  const timer = setInterval(() => socket.writable && socket.write(again), 500);
  const answer = await closed;
  clearInterval(timer);
  return answer;
}

function expectRefusal(answer: string, status: number): void {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head.toLowerCase()).toContain('cache-control: no-store');
  expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST', retryable: false } }] });
}

describe('bytes that are not HTTP', () => {
  test.each([
    ['no HTTP at all', 'hello canary-7f3a\r\n\r\n', 400],
    ['a header that is none', 'GET /healthz HTTP/1.1\r\nhost: x\r\ncanary-7f3a\r\n\r\n', 400],
    ['headers without end', `GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: ${'canary-7f3a'.repeat(4_000)}\r\n\r\n`, 431],
    ['two lengths', 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
  ])('%s is refused with the body of every refusal', async (_what, bytes, status) => {
    const answer = await sendBytes(app.url, bytes);
    expectRefusal(answer, status);
    expect(answer + app.logged()).not.toContain('canary-7f3a');
  });
});

describe('a connection on which bytes arrive slowly is closed after 10 s', () => {
  test.concurrent.each([
    ['headers', 'POST /graphql HTTP/1.1\r\nhost: x\r\nx-slow: ', 'a'],
    [
      'a body',
      'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n',
      ' ',
    ],
  ])(
    '%s',
    async (_what, first, again) => {
      const start = performance.now();
      expectRefusal(await drip(first, again), 408);
      const elapsed = performance.now() - start;
      expect(elapsed).toBeGreaterThan(9_500);
      expect(elapsed).toBeLessThan(13_000);
    },
    40_000,
  );
});
