import { timingSafeEqual } from 'node:crypto';
import { fastify, LogController } from 'fastify';
import type { OperationDefinitionNode } from 'graphql';
import { mercurius } from 'mercurius';
import { Histogram, register } from 'prom-client';
import { Agent, request } from 'undici';
import { buildSchema } from '../bench/contenders/schema.ts';

/**
 * Mercurius as deployed: `mercurius.ts` with the duties of a production checklist, each by the simplest use of its library.
 *
 * - Only the router gets an answer. Its secret is compared in constant time.
 * - Request bodies are bounded, to the same size as ours.
 * - Each upstream call has a deadline, from the connection to the last byte of the answer.
 * - Each operation is a log line, with its name, outcome, status and duration, by Fastify's own logger (pino).
 * - Operations and upstream calls are counted and timed in histograms, which `/metrics` shows.
 * - SIGTERM ends the process after the operations in flight.
 */

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10];
const TIMEOUT_MS = 3_000;
const BODY_LIMIT = 524_288;

const operations = new Histogram({
  name: 'graphql_operation_duration_seconds',
  help: 'Duration of operations',
  labelNames: ['type', 'outcome'],
  buckets: BUCKETS,
});
const calls = new Histogram({
  name: 'upstream_call_duration_seconds',
  help: 'Duration of upstream calls',
  labelNames: ['service', 'outcome'],
  buckets: BUCKETS,
});

const upstream = process.env['UPSTREAM_URL'] ?? '';
const dispatcher = new Agent();
const schema = buildSchema(async (path, headers, body) => {
  const start = performance.now();
  let outcome = 'failed';
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const answer = await request(upstream + path, { method: 'POST', headers, body, dispatcher, signal });
    const json: unknown = JSON.parse(await answer.body.text());
    outcome = String(answer.statusCode);
    return [answer.statusCode, json];
  } finally {
    const service = path.startsWith('/validate') ? 'captcha' : 'fingerprint';
    calls.observe({ service, outcome }, (performance.now() - start) / 1_000);
  }
});

declare module 'fastify' {
  interface FastifyReply {
    operation: OperationDefinitionNode | undefined;
    hasErrors: boolean;
  }
}

const routerSecret = Buffer.from(process.env['ROUTER_SECRET'] ?? '');
function isRouter(header: string | string[] | undefined): boolean {
  const given = Buffer.from(String(header));
  return given.length === routerSecret.length && timingSafeEqual(given, routerSecret);
}

const logController = new LogController({ disableRequestLogging: true });
const app = fastify({ logger: true, logController, bodyLimit: BODY_LIMIT });
app.get('/metrics', async (_request, reply) => reply.type(register.contentType).send(await register.metrics()));
await app.register(async (router) => {
  router.decorateReply('operation', undefined);
  router.decorateReply('hasErrors', false);
  router.addHook('onRequest', async ({ headers }, reply) => {
    if (!isRouter(headers['router-authorization']))
      await reply.code(401).send({ errors: [{ message: 'Unauthorized' }] });
  });
  await router.register(mercurius, { schema, jit: 1 });
  router.graphql.addHook('preExecution', async (_schema, document, { reply }) => {
    reply.operation = document.definitions.find((one) => one.kind === 'OperationDefinition');
  });
  router.graphql.addHook('onResolution', async ({ errors }, { reply }) => {
    reply.hasErrors = errors !== undefined;
  });
  router.addHook('onResponse', async (_request, reply) => {
    const { operation, hasErrors, statusCode, elapsedTime } = reply;
    const outcome = operation === undefined || hasErrors ? 'error' : 'ok';
    operations.observe({ type: operation?.operation ?? 'none', outcome }, elapsedTime / 1_000);
    reply.log.info({ operation: operation?.name?.value, outcome, status: statusCode, ms: elapsedTime }, 'operation');
  });
});
process.once('SIGTERM', () => void app.close());
process.stdout.write(`{"url":"${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql"}\n`);
