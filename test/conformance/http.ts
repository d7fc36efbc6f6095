import { expectMatch, fail } from './expect.ts';

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
