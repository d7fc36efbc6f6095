import { createServer, type ServerResponse } from 'node:http';
import { Pool } from 'undici';
import type { MutationValidateCaptchaArgs, QueryDeviceFingerprintArgs } from '../../../src/schema.generated.ts';
import { listen } from '../../support/loopback.ts';
import { post } from '../post.ts';
import { judge, type Post, verify } from './wire.ts';

/**
 * What these answers cost without GraphQL, by node:http and undici's dispatch. Read, parse, ask, parse, write; it looks at the
 * variables alone, and answers with the fields of the benchmark's documents.
 */

const pool = new Pool(process.env['UPSTREAM_URL'] ?? '');
const ask: Post = async (path, headers, body) => {
  const answer = await post(pool, path, headers, body);
  return [answer.status, JSON.parse(answer.body.toString())];
};

/** The variables of the benchmark's documents. */
type Variables =
  | { readonly representations: readonly { readonly token: string }[] }
  | MutationValidateCaptchaArgs
  | QueryDeviceFingerprintArgs;

async function dataFor(variables: Variables): Promise<object> {
  if ('input' in variables) return { validateCaptcha: await verify(ask, variables.input) };
  if ('token' in variables) return { deviceFingerprint: await judge(ask, variables) };
  return { _entities: await Promise.all(variables.representations.map(({ token }) => judge(ask, { token }))) };
}

async function answer(text: string, response: ServerResponse): Promise<void> {
  // Safe: only the benchmark asks, with these variables.
  const { variables } = JSON.parse(text) as { variables: Variables };
  const json = JSON.stringify({ data: await dataFor(variables) });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) };
  response.writeHead(200, headers).end(json);
}

const server = createServer((request, response) => {
  let text = '';
  request
    .setEncoding('utf8')
    .on('data', (part: string) => {
      text += part;
    })
    .on('end', () => answer(text, response).catch(() => response.writeHead(500).end()));
});
process.stdout.write(`{"url":"http://127.0.0.1:${await listen(server)}/graphql"}\n`);
