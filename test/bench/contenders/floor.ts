import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { postByDispatch } from './post.ts';
import { ready } from './ready.ts';
import { type CaptchaInput, type FingerprintArguments, judge, verify } from './wire.ts';

/**
 * The floor: what these answers cost without GraphQL, by node:http and undici's dispatch. Read, parse, ask, parse, write; it
 * looks at the variables alone and answers with the fields of the benchmark's documents.
 */

const post = postByDispatch(process.env['UPSTREAM_URL'] ?? '');

type Variables = Readonly<Record<string, unknown>>;

async function answer(request: IncomingMessage): Promise<string> {
  // Sound, as are those below: only the benchmark asks, with these variables.
  const { variables } = JSON.parse(await read(request)) as { variables: Variables };
  return JSON.stringify({ data: await dataFor(variables) });
}

/** By events, which is the cheapest way. */
function read(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => resolve(body)).on('error', reject);
  });
}

/** Sound, all of these: the load generator alone asks, and it sends the variables of our workloads, one kind by its name. */
async function dataFor(variables: Variables): Promise<unknown> {
  if ('representations' in variables) {
    return { _entities: await entities(variables['representations'] as { token: string }[]) };
  }
  if ('input' in variables) return { validateCaptcha: await verify(post, variables['input'] as CaptchaInput) };
  if ('token' in variables)
    return { deviceFingerprint: await judge(post, variables as unknown as FingerprintArguments) };
  const roots = Object.entries(variables as Record<string, string>);
  return Object.fromEntries(await Promise.all(roots.map(async ([key, token]) => [key, await judge(post, { token })])));
}

/** Asks once for each different token, so that it makes as many calls as ours. */
function entities(representations: readonly { token: string }[]): Promise<unknown[]> {
  const asked = new Map<string, Promise<unknown>>();
  return Promise.all(
    representations.map(({ token }) => {
      const known = asked.get(token) ?? judge(post, { token });
      asked.set(token, known);
      return known;
    }),
  );
}

const server = createServer((request, response) => {
  answer(request).then(
    (json) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
      response.writeHead(200, headers).end(json);
    },
    () => response.writeHead(500).end(),
  );
});
await once(server.listen(0, '127.0.0.1'), 'listening');
// Sound: a server that listens on TCP has an AddressInfo.
ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`);
