import { isIP } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import errors from '../fixtures/fingerprint-errors.json' with { type: 'json' };
import signals from '../fixtures/signals.json' with { type: 'json' };
import { type Application, type Audit, audit, type Reply, send } from './target.ts';

/** Asking the fingerprint service, and reading its two envelopes. Section numbers are the fingerprint document's. */

interface Overrides {
  /** Replaces the public key in the path, as it stands: not encoded. */
  readonly keyInPath?: string;
  /** Null leaves the header out. */
  readonly authorization?: string | null;
  readonly contentType?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export function query(application: Application, body: unknown, overrides: Overrides = {}): Promise<Reply> {
  return queryText(application, JSON.stringify(body), overrides);
}

/** For bodies that are not JSON. */
export async function queryText(application: Application, body: string, overrides: Overrides = {}): Promise<Reply> {
  const { authorization = `Bearer ${application.secret}`, contentType = 'application/json' } = overrides;
  const key = overrides.keyInPath ?? encodeURIComponent(application.publicKey);
  const reply = await send(`${application.url}/api/v2/fp_query/${key}`, {
    headers: {
      ...(authorization === null ? {} : { authorization }),
      ...(contentType === null ? {} : { 'content-type': contentType }),
      ...overrides.headers,
    },
    body,
  });
  // Section 4, rule 1 holds for every response, so every audit checks it.
  expect(reply.body).toEqual({ code: reply.status, message: expect.any(String), data: expect.any(Object) });
  return reply;
}

const TEXT = expect.any(String);
/** UUID version 7 (RFC 9562, 5.7): 48 bits of milliseconds, the version digit 7, the variant bits 10. */
const idWith = (prefix: string) =>
  expect.stringMatching(
    new RegExp(`^${prefix}_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, 'i'),
  );
const MOBILE = { os: TEXT, pla: TEXT, mod: TEXT, osv: TEXT };
const ANY = expect.any(Object);

/** `data` of a success (2.3 to 2.9). */
const DATA = {
  request_id: idWith('req'),
  event_id: idWith('evt'),
  fp_detail: { device_id: TEXT, version: '1.0' },
  signals: expect.toSatisfy((hits: unknown[]) =>
    hits.every((hit) => signals.some((known) => isDeepStrictEqual(hit, known))),
  ),
  detail: {
    client_type: expect.stringMatching(/^(Android|iOS|Web\/H5)$/),
    // What the three objects of a browser hold is open: some keys occur, others may join them.
    device_basic: expect.toBeOneOf([MOBILE, { browser: ANY, device: ANY, os: ANY }]),
    ip_info: { ip: expect.toSatisfy((ip) => isIP(ip) > 0) },
  },
};

/** `data` of a success, whose form is exactly the documented one. */
export function expectSuccess(reply: Reply) {
  expect(reply).toEqual({ status: 200, body: { code: 200, message: 'Success', data: DATA } });
  const { data } = Object(reply.body);
  return data;
}

export async function queryData(application: Application, token: string) {
  return expectSuccess(await query(application, { device_token: token }));
}

type ErrorName = 'field_required' | 'invalid_token' | 'invalid_bearer_token' | 'forbidden' | 'integration_not_found';

/** A documented error, to the letter (section 7). */
export function expectError({ status, body }: Reply, name: ErrorName | 'internal_server_error'): void {
  const { code, message, data } = Object(body);
  expect({ name, status, message, data }).toEqual(errors.find((error) => error.name === name));
  expect(code).toBe(status);
}

/** An audit of what an application is answered about a token. */
export function asking(
  id: string,
  name: string,
  fn: (application: Application, token: string) => Promise<void>,
): Audit {
  return audit(id, name, ['application', 'token'], ({ application, token }) => fn(application, token));
}

/** A 400 (2.10) with at least one field error; each has three strings. Returns the fields. */
export function expectFieldErrors({ status, body }: Reply): readonly string[] {
  const { message, data } = Object(body);
  const fieldErrors: readonly { field: string }[] = Object(data).errors;
  expect({ status, message, data }).toEqual({
    status: 400,
    message: 'Invalid request',
    data: { errors: fieldErrors.map(() => ({ field: TEXT, reason: TEXT, type: TEXT })) },
  });
  expect(fieldErrors).not.toEqual([]);
  return fieldErrors.map(({ field }) => field);
}

/** A 400 that names one field. Whether a nested field is named with its path is not shown, so both are taken. */
export function expectRefusedField(reply: Reply, name: string): void {
  expect(expectFieldErrors(reply).map((field) => field.split('.').at(-1))).toContain(name);
}
