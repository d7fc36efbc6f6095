import type { FormattedExecutionResult } from 'graphql';
import { DeviceTrustError } from '../errors.ts';
import type { GraphQLContext } from '../graphql/context.ts';
import { CHARACTERS_PER_UNIT } from '../graphql/cost.ts';
import { inOrder, toErrors } from '../graphql/errors.ts';
import { MAX_RESPONSES_WEIGHT } from '../observability/operation.ts';
import { sizeOf } from '../runtime/json.ts';

/** The answer as JSON, its errors first and in the order of the fields; or an error, if it costs too much or is too large. */
export function serialise({ errors, ...rest }: FormattedExecutionResult, context: GraphQLContext, maxBytes: number) {
  const { cost } = context;
  if (cost.isOverspent && rest.data) {
    return tooMuch(`The answer costs more than ${cost.max}, because its lists are long. Ask for less in one request.`);
  }
  const result = errors ? { errors: inOrder(errors), ...rest } : rest;
  // What may be too large is measured first, so that a long text under many aliases is never written.
  if (maxSizeOf(context) <= maxBytes || sizeOf(result, 1, maxBytes) <= maxBytes) {
    const text = JSON.stringify(result);
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return { result, text, bytes };
  }
  return tooMuch(`The answer is larger than ${maxBytes} bytes. Ask for fewer fields or references in one request.`);
}

/** How many values and characters an answer can have: no more values than it costs, and no text longer than all that came in. */
function maxSizeOf({ cost: { spent }, operation }: GraphQLContext): number {
  return spent * (MAX_RESPONSES_WEIGHT - operation.responsesWeightLeft + CHARACTERS_PER_UNIT * spent);
}

function tooMuch(message: string) {
  const error = new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
  const result = { errors: toErrors([error]), data: null };
  const text = JSON.stringify(result);
  return { result, text, bytes: Buffer.byteLength(text) };
}
