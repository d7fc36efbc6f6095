import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';

/** Assertions that read as one sentence: "expected X, but got Y". */

export function fail(expected: string, actual: unknown): never {
  throw new AssertionError({ message: `expected ${expected}, but got ${show(actual)}` });
}

export function expectThat(holds: boolean, expected: string, actual: unknown): void {
  if (!holds) fail(expected, actual);
}

export function expectSame(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) fail(`${what} ${show(expected)}`, actual);
}

export function expectText(value: unknown, what: string): string {
  return typeof value === 'string' ? value : fail(`${what} to be a string`, value);
}

export function expectMatch(value: unknown, pattern: RegExp, what: string): string {
  const text = expectText(value, what);
  return pattern.test(text) ? text : fail(`${what} to match ${pattern}`, text);
}

export function expectList(value: unknown, what: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(`${what} to be an array`, value);
}

export function expectObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : fail(`${what} to be an object`, value);
}

/** The documents list the fields of an object completely: one too many is as wrong as one too few. */
export function expectKeys(value: unknown, keys: readonly string[], what: string): Readonly<Record<string, unknown>> {
  const object = expectObject(value, what);
  expectSame(Object.keys(object).sort(), [...keys].sort(), `${what} with the keys`);
  return object;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 500 ? `${text.slice(0, 500)}… (${text.length} characters)` : text;
}

export interface Reply {
  readonly status: number;
  /** The JSON body, parsed. */
  readonly body: unknown;
}

interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request, answered as JSON; both documents answer nothing else. */
export async function send(url: string, request: RawRequest): Promise<Reply> {
  const response = await fetch(url, {
    method: request.method ?? 'POST',
    headers: { ...request.headers },
    // As bytes: for a string, fetch would add a Content-Type that the audit did not ask for.
    ...(request.body === undefined ? {} : { body: new TextEncoder().encode(request.body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  expectMatch(
    response.headers.get('content-type'),
    /^application\/json\s*(;|$)/i,
    `Content-Type of the ${response.status}`,
  );
  return { status: response.status, body: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return fail('a JSON body', text);
  }
}
