import { request } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import { isAllowed, queryFingerprint } from '../../src/sandbox/fingerprint.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { createUsedTokens } from '../../src/sandbox/used-tokens.ts';
import { dataOf, errorsOf, INVALID_TOKEN, query } from './support.ts';

const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
const url = sandbox.urls.GLB;
afterAll(sandbox.stop);

describe('the order of the checks', () => {
  const wrong = { authorization: 'Bearer wrong', 'content-type': 'text/plain' };
  const right = { authorization: 'Bearer sk_sandbox_glb', 'content-type': 'text/plain' };

  test('the application comes before the secret', async () => {
    expect((await query(url, '', { publicKey: 'pk_unknown', headers: wrong })).status).toBe(404);
    expect((await query(sandbox.urls.EU, '', { headers: wrong })).status).toBe(404);
  });

  test.each(['pk_sandbox_disabled', 'pk_sandbox_allowlist'])(
    '%s checks the secret before the 403, and the 403 before the body',
    async (publicKey) => {
      expect((await query(url, '', { publicKey, headers: wrong })).status).toBe(401);
      expect((await query(url, '', { publicKey, headers: right })).status).toBe(403);
    },
  );

  test('the fields come before the token', async () => {
    const errors = await errorsOf(await query(url, { device_token: 'no such token', event_time: 'noon' }));
    expect(errors).toMatchObject([{ field: 'event_time' }]);
  });

  test('a request that is refused before its body is read still gets the response', async () => {
    const response = await query(url, 'x'.repeat(1024 * 1024), { headers: wrong });
    expect([response.status, await response.json()]).toEqual([
      401,
      { code: 401, message: 'Invalid bearer token', data: {} },
    ]);
  });
});

describe('the authentication of a caller', () => {
  test('accepts the scheme in any case', async () => {
    const headers = { authorization: 'bearer sk_sandbox_glb', 'content-type': 'application/json; charset=utf-8' };
    expect((await query(url, { device_token: 'sandbox:web' }, { headers })).status).toBe(200);
  });

  test('compares the address of the connection with the allow-list, with both spellings of IPv4', () => {
    expect(isAllowed('192.0.2.1', ['192.0.2.1'])).toBe(true);
    expect(isAllowed('::ffff:192.0.2.1', ['192.0.2.1'])).toBe(true);
    expect(isAllowed('192.0.2.2', ['192.0.2.1'])).toBe(false);
    expect(isAllowed(undefined, ['192.0.2.1'])).toBe(false);
    expect(isAllowed('192.0.2.2', undefined)).toBe(true);
  });

  test.each(['x-forwarded-for', 'forwarded', 'x-real-ip'])(
    'ignores the header %s for an allow-list',
    async (header) => {
      const headers = {
        authorization: 'Bearer sk_sandbox_glb',
        'content-type': 'application/json',
        [header]: '192.0.2.1',
      };
      const response = await query(
        url,
        { device_token: 'sandbox:web' },
        { publicKey: 'pk_sandbox_allowlist', headers },
      );
      expect(response.status).toBe(403);
    },
  );
});

describe('field errors that the document does not have', () => {
  test('all errors are reported together', async () => {
    const body = {
      colour: 'red',
      metadata: { email: 1, ja4: null, score: 7, nested: { any: ['thing'] } },
      event_type: 5,
      event_time: '2026-01-02T03:04:05',
    };
    expect(await errorsOf(await query(url, body))).toEqual([
      { field: 'device_token', reason: 'Field required', type: 'missing' },
      { field: 'colour', reason: 'Extra inputs are not permitted', type: 'extra_forbidden' },
      { field: 'metadata.email', reason: 'Input should be a valid string', type: 'string_type' },
      { field: 'metadata.ja4', reason: 'Input should be a valid string', type: 'string_type' },
      { field: 'event_type', reason: 'Input should be a valid string', type: 'string_type' },
      { field: 'event_time', reason: 'Input should be an RFC 3339 date-time with an offset', type: 'datetime_parsing' },
    ]);
  });

  test.each([
    [{ device_token: '' }, 'device_token', 'string_too_short'],
    [{ device_token: null }, 'device_token', 'string_type'],
    [{ device_token: 'sandbox:web', metadata: null }, 'metadata', 'dict_type'],
    [{ device_token: 'sandbox:web', metadata: [] }, 'metadata', 'dict_type'],
    [{ device_token: 'sandbox:web', event_type: null }, 'event_type', 'string_type'],
    [{ device_token: 'sandbox:web', event_time: 1767323045 }, 'event_time', 'string_type'],
    ['{"device_token":"sandbox:web","__proto__":{}}', '__proto__', 'extra_forbidden'],
    ['[]', 'body', 'dict_type'],
    ['null', 'body', 'dict_type'],
    ['', 'body', 'json_invalid'],
    ['{"device_token":', 'body', 'json_invalid'],
    ['x'.repeat(256 * 1024), 'body', 'json_invalid'],
    ['x'.repeat(256 * 1024 + 1), 'body', 'bytes_too_long'],
  ])('the body %.60j gets an error of %s: %s', async (body, field, type) => {
    expect(await errorsOf(await query(url, body))).toEqual([{ field, reason: expect.any(String), type }]);
  });

  test('a body that is not UTF-8 is not JSON', async () => {
    const headers = { authorization: 'Bearer sk_sandbox_glb', 'content-type': 'application/json' };
    const body = Buffer.from('{"device_token":"sandbox:web#\xff"}', 'latin1');
    const response = await fetch(`${url}/api/v2/fp_query/pk_sandbox_glb`, { method: 'POST', headers, body });
    expect(await errorsOf(response)).toMatchObject([{ field: 'body', type: 'json_invalid' }]);
  });

  test('a media type other than JSON gets an error of Content-Type', async () => {
    const headers = { authorization: 'Bearer sk_sandbox_glb', 'content-type': 'text/json' };
    const response = await query(url, { device_token: 'sandbox:web' }, { headers });
    expect(await errorsOf(response)).toMatchObject([{ field: 'Content-Type', type: 'literal_error' }]);
  });
});

describe('a device token', () => {
  test('is invalid if it is unknown or sandbox:error:400', async () => {
    for (const token of ['anything', 'sandbox:web:NO_SUCH_SIGNAL', 'sandbox:error:400']) {
      expect(await errorsOf(await query(url, { device_token: token }))).toEqual(INVALID_TOKEN);
    }
  });

  test.each([
    [401, 'Invalid bearer token'],
    [403, 'Forbidden'],
    [404, 'integration not found'],
    [500, 'Internal server error'],
  ])('sandbox:error:%i gets that envelope', async (code, message) => {
    const response = await query(url, { device_token: `sandbox:error:${code}#1` });
    expect([response.status, await response.json()]).toEqual([code, { code, message, data: {} }]);
  });

  test('with another suffix is another analysis of another device', async () => {
    const ask = async (token: string) => dataOf(await query(url, { device_token: token }));
    const [one, same, other] = [await ask('sandbox:ios#1'), await ask('sandbox:ios#1'), await ask('sandbox:ios#2')];
    expect([same.request_id, same.fp_detail, same.signals]).toEqual([one.request_id, one.fp_detail, []]);
    expect(other.request_id).not.toBe(one.request_id);
    expect(other.fp_detail.device_id).not.toBe(one.fp_detail.device_id);
  });

  test('for the web gets keys that the document does not list', async () => {
    const { detail } = await dataOf(await query(url, { device_token: 'sandbox:web' }));
    expect(detail.device_basic).toMatchObject({ browser: { type: 'desktop' }, os: { arch: 'arm64' } });
  });

  test('with a delay gets its response after that delay', async () => {
    const begin = performance.now();
    await dataOf(await query(url, { device_token: 'sandbox:delay:200:android' }));
    expect(performance.now() - begin).toBeGreaterThan(190);
  });

  test('with a delay stops waiting when the client disconnects', async () => {
    const client = new AbortController();
    const body = JSON.stringify({ device_token: 'sandbox:delay:60000:android' });
    const request = {
      region: 'GLB',
      publicKey: 'pk_sandbox_glb',
      authorization: 'Bearer sk_sandbox_glb',
      contentType: 'application/json',
      remoteAddress: '127.0.0.1',
      readBody: async () => Buffer.from(body),
      abortSignal: client.signal,
    } as const;
    const response = queryFingerprint(request, createUsedTokens());
    client.abort();
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('any other request', () => {
  const notFound = [404, { code: 404, message: 'integration not found', data: {} }];

  test.each([
    ['GET', '/'],
    ['GET', '/api/v2/fp_query/pk_sandbox_glb'],
    ['POST', '/api/v2/fp_query/'],
    ['POST', '/api/v2/fp_query/pk_sandbox_glb/'],
    ['POST', '/api/v2/fp_query/pk_sandbox_na/../pk_sandbox_glb'],
    ['POST', '/api/v2/fp_query/%E0%A4%A'],
    ['POST', '//'],
    ['PUT', '/validate'],
    ['GET', '/sandbox/challenges'],
  ])('%s %s is not found', async (method, path) => {
    // node:http, because fetch would tidy the path up before it sends it.
    const answer = await new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const call = request({ hostname, port, method, path, headers: { authorization: 'Bearer sk_sandbox_glb' } });
      call.on('error', reject);
      call.on('response', async (response) => {
        const text = (await response.toArray()).join('');
        resolve([response.statusCode, JSON.parse(text)]);
      });
      call.end();
    });
    expect(answer).toEqual(notFound);
  });
});
