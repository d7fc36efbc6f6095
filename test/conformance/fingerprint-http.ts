import errors from '../fixtures/fingerprint-errors.json' with { type: 'json' };
import { expectKeys, expectList, expectSame, expectText, expectThat, fail, type Reply, send } from './expect.ts';
import { type Application, type Audit, audit } from './target.ts';

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
  const envelope = expectKeys(reply.body, ['code', 'message', 'data'], 'an envelope');
  expectSame(envelope['code'], reply.status, 'code to equal the HTTP status');
  return reply;
}

/** `data` of a success envelope (2.3). */
export function expectSuccess(reply: Reply): Readonly<Record<string, unknown>> {
  const { code, message, data } = expectKeys(reply.body, ['code', 'message', 'data'], 'a success envelope');
  expectSame({ status: reply.status, code, message }, { status: 200, code: 200, message: 'Success' }, 'a success');
  return expectKeys(data, ['request_id', 'event_id', 'fp_detail', 'signals', 'detail'], 'data');
}

export async function queryData(application: Application, token: string): Promise<Readonly<Record<string, unknown>>> {
  return expectSuccess(await query(application, { device_token: token }));
}

/** `data.detail` (2.6). */
export async function queryDetail(application: Application, token: string): Promise<Readonly<Record<string, unknown>>> {
  const { detail } = await queryData(application, token);
  return expectKeys(detail, ['client_type', 'device_basic', 'ip_info'], 'detail');
}

type ErrorName = 'field_required' | 'invalid_token' | 'invalid_bearer_token' | 'forbidden' | 'integration_not_found';

/** A documented error, to the letter (section 7). */
export function expectError(reply: Reply, name: ErrorName | 'internal_server_error'): void {
  const documented = errors.find((error) => error.name === name) ?? fail('a documented error', name);
  const { status, message, data } = documented;
  expectSame(
    { status: reply.status, body: reply.body },
    { status, body: { code: status, message, data } },
    `the ${name} error`,
  );
}

/** An audit of what an application is answered about a token. */
export function asking(
  id: `FP-${string}-${string}`,
  name: string,
  fn: (application: Application, token: string) => Promise<void>,
): Audit {
  return audit(id, name, ['application', 'token'], ({ application, token }) => fn(application, token));
}

interface FieldError {
  readonly field: string;
  readonly reason: string;
  readonly type: string;
}

/** The field errors of a 400 (2.10): at least one, each of three strings. */
export function expectFieldErrors(reply: Reply): readonly FieldError[] {
  const { code, message, data } = expectKeys(reply.body, ['code', 'message', 'data'], 'an error envelope');
  expectSame({ code, message }, { code: 400, message: 'Invalid request' }, 'a refusal');
  const list = expectList(expectKeys(data, ['errors'], 'data of a 400')['errors'], 'data.errors');
  expectThat(list.length > 0, 'at least one field error', list);
  return list.map((entry) => {
    const { field, reason, type } = expectKeys(entry, ['field', 'reason', 'type'], 'a field error');
    return { field: expectText(field, 'field'), reason: expectText(reason, 'reason'), type: expectText(type, 'type') };
  });
}

/** A 400 that names one field. Whether a nested field is named with its path is not shown, so both are taken. */
export function expectRefusedField(reply: Reply, name: string): void {
  const fields = expectFieldErrors(reply).map(({ field }) => field);
  expectThat(
    fields.some((field) => field === name || field.endsWith(`.${name}`)),
    `a field error for ${name}`,
    fields,
  );
}
