import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseJson } from '../../src/runtime/json.ts';
import { closeAtOnce, listen } from './loopback.ts';
import { isProbe, issued, probeAnswer } from './probes.ts';

/** A request as it reached an upstream. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestUpstream {
  readonly url: string;
  /** Everything that came in so far, oldest first. */
  readonly received: ReceivedRequest[];
  stop(): Promise<void>;
}

/** Answers a request. */
export type Answer = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

/**
 * An HTTP server that keeps what it receives. A test sets how it answers: by itself, or by passing requests on. Probes are
 * not kept, and get their documented answers unless the test sets another one.
 */
export async function startUpstream(answer: Answer, answerProbe: Answer = answerAsDocumented): Promise<TestUpstream> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    try {
      const seen = { method, url, headers, body: await text(request) };
      if (isProbe(seen.body)) return await answerProbe(seen, response);
      received.push(seen);
      await answer(seen, response);
    } catch (error) {
      // A mistake in a test: what waits for the answer fails at once, and Vitest shows the error.
      response.destroy();
      throw error;
    }
  });
  // Longer than a router keeps an idle connection, so that no request crosses its end.
  server.keepAliveTimeout = 75_000;
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, received, stop: () => closeAtOnce(server) };
}

/** An upstream that answers each call with this, but none before the test releases them. */
export async function startHeldUpstream(body: unknown) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (_request, response) => {
    arrived.resolve();
    await released.promise;
    sendJson(response, 200, body);
  });
  return { ...upstream, arrived: arrived.promise, release: released.resolve };
}

/** An upstream that is well: a probe gets its documented answer. */
export function answerAsDocumented({ body }: ReceivedRequest, response: ServerResponse): void {
  const documented = probeAnswer(body);
  response.writeHead(documented.status, { 'content-type': 'application/json' }).end(documented.body);
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Passes requests on to another server, such as the sandbox, and its answers back, altered or as they are. */
export function passOnTo(baseUrl: string, alter = (answer: string) => answer) {
  return async ({ method, url, headers, body }: ReceivedRequest, response: ServerResponse): Promise<void> => {
    const { authorization, 'content-type': type } = headers;
    const answer = await fetch(baseUrl + url, {
      method,
      body,
      headers: { ...(authorization && { authorization }), ...(type && { 'content-type': type }) },
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    const text = await answer.text();
    if (url.startsWith('/sandbox/challenges')) issued.add(Object(parseJson(text)).lot_number);
    response.end(alter(text));
  };
}
