import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../graphql/caller.ts';
import { type AnswerOptions, answerOperation } from './answer-operation.ts';
import type { BodyBudget } from './connections.ts';
import { readJsonBody, send } from './http.ts';
import { OperationLog, type Telemetry } from './operation-log.ts';

/** What `handleGraphql` works with. */
interface HandlerOptions extends AnswerOptions {
  readonly maxBodyBytes: number;
  /** What the bodies of all requests share. */
  readonly bodies: BodyBudget;
  readonly telemetry: Telemetry;
  /** Called once the body has arrived, which can be long after the headers. May throw a RequestRefused. */
  readonly beforeOperation: () => void;
}

/**
 * Answers one GraphQL request. Every operation passes through here, whether Apollo Server or compiled code executes it. Code
 * that has to run for every operation belongs here or into the OperationLog, because Apollo Server's plugins do not see
 * compiled operations.
 *
 * @throws RequestRefused if the HTTP request cannot be a GraphQL one
 */
export async function handleGraphql(
  options: HandlerOptions,
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
): Promise<void> {
  const share = options.bodies.open();
  try {
    const body = request.method === 'POST' ? await readJsonBody(request, options.maxBodyBytes, share) : undefined;
    if (response.destroyed) return;
    options.beforeOperation();
    const operation = new OperationLog(request, caller, options.telemetry);
    response.on('close', () => operation.cancel());
    let status = 500; // until there is a response
    try {
      const answer = await answerOperation(options, request, body, operation, caller);
      status = answer.status;
      send(response, status, answer.headers, answer.text);
    } finally {
      operation.end(status);
    }
  } finally {
    share.release();
  }
}
