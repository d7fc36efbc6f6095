import type { GraphQLSchema } from 'graphql';
import { framesOf } from '../errors.ts';
import type { Capabilities } from '../graphql/context.ts';
import type { CostLimits } from '../graphql/cost.ts';
import { createDocumentCache } from '../graphql/document-cache.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';
import { createAnswerWriter } from './answer.ts';
import { startApollo } from './apollo.ts';
import { BodyBudget } from './body-budget.ts';
import { type CallerSecrets, Callers } from './callers.ts';
import { handleGraphql } from './handler.ts';
import type { Health } from './health.ts';
import { type DocumentLimits, refuseUnderLoad } from './limits.ts';
import { createListener, type Explorer } from './listener.ts';
import type { Telemetry } from './operation-log.ts';
import type { TrustedHeaders } from './trusted-headers.ts';

/**
 * A `Config` has all of these values except the last five. Every GraphQL request must present one of the secrets; with none,
 * anyone may ask.
 */
export interface ServerOptions extends CallerSecrets, DocumentLimits, CostLimits {
  readonly trustedHeaders: TrustedHeaders | undefined;
  readonly maxTokens: number;
  readonly maxBodyBytes: number;
  readonly maxAnswerBytes: number;
  readonly maxConnections: number;
  readonly maxConnectionAgeMs: number;
  readonly maxEventLoopDelayMs: number;
  readonly shutdownGraceMs: number;
  /** Trusts the headers of senders on this machine if there are no secrets. */
  readonly trustsLoopback?: boolean;
  readonly telemetry: Telemetry;
  readonly eventLoop: Pick<EventLoopMonitor, 'isOverloaded'>;
  /** Readiness fails until this is true. */
  readonly isUpstreamReady: () => boolean;
  /** Pages for people in development. With them, introspection is allowed. */
  readonly explorer?: Explorer | undefined;
  /** The JWK set of attestations as JSON. Undefined if none are configured. */
  readonly jwks?: () => string | undefined;
}

/** A GraphQL server that can listen. */
interface GraphqlServer {
  /** What probes get, for a server on another port. */
  readonly health: Health;
  /**
   * Starts to listen.
   *
   * @returns scheme, host and port, without a trailing slash
   * @throws the error of the socket, if it cannot listen
   */
  listen(host: string, port: number): Promise<string>;
  /** Replaces all secrets: from now on, every GraphQL request must present one of these. */
  replaceSecrets(secrets: CallerSecrets): void;
  /** Drains: readiness fails at once, requests under way may finish, then every socket is closed. */
  stop(): Promise<void>;
}

/** Puts a server together for a schema and the capabilities that its resolvers use. It does not listen yet. */
export async function createServer(
  schema: GraphQLSchema,
  capabilities: Capabilities,
  options: ServerOptions,
): Promise<GraphqlServer> {
  const { telemetry, eventLoop, explorer, routerSecrets, maxEventLoopDelayMs } = options;
  const { log } = telemetry;
  const documents = createDocumentCache(schema, (error) => {
    log.warn({ error: framesOf(error) }, 'the compiler could not be loaded; Apollo Server executes all operations');
  });
  await documents.loadCompiler();
  const landingPage = explorer?.landingPage;
  const writer = createAnswerWriter(options.maxAnswerBytes);
  const inlineTraces = routerSecrets.length > 0;
  const apollo = await startApollo(schema, { log, documents, landingPage, inlineTraces, writer, limits: options });
  const callers = new Callers({
    trustsLoopback: false,
    ...options,
    onDroppedMetadata: telemetry.metrics.recordDroppedMetadata,
  });
  const { maxBodyBytes, maxConnections, maxConnectionAgeMs, shutdownGraceMs } = options;
  const beforeOperation = () => refuseUnderLoad(eventLoop, maxEventLoopDelayMs);
  const handler = {
    apollo,
    documents,
    capabilities,
    limits: options,
    writer,
    maxBodyBytes,
    bodies: new BodyBudget(),
    telemetry,
    beforeOperation,
  };
  const listener = createListener({
    handle: (request, response, caller) => handleGraphql(handler, request, response, caller),
    callers,
    beforeOperation,
    maxConnections,
    maxConnectionAgeMs,
    isUpstreamReady: options.isUpstreamReady,
    shutdownGraceMs,
    explorer,
    jwks: options.jwks ?? (() => undefined),
    telemetry,
  });
  return {
    health: listener.health,
    listen: listener.listen,
    replaceSecrets: (secrets) => callers.replaceSecrets(secrets),
    stop: async () => {
      await listener.stop();
      await apollo.stop();
    },
  };
}
