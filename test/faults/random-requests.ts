import type { GraphQLSchema } from 'graphql';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { CANARY, createChoices } from './random-choices.ts';
import { createDocumentMaker } from './random-documents.ts';

/** Hostile bodies of GraphQL requests, as JSON text, so that they can hold what no JavaScript value is. */

const LITERALS = [
  '1e400',
  '0',
  '-1',
  '9007199254740993',
  '0.5',
  'true',
  'null',
  '""',
  '"\\ud800"',
  '"2026-03-01T09:30:00Z"',
];
/** What a variable may be called, and what a field of one. */
const NAMES = [
  ...[
    'token',
    'metadata',
    'eventType',
    'eventTime',
    'publicKey',
    'representations',
    'input',
    '__typename',
    'accountId',
  ],
  ...['additional', 'captchaId', 'lotNumber', 'captchaOutput', 'passToken', 'genTime', '__proto__', 'constructor', 'x'],
];
const EXTRAS = ['operationName', 'extensions', 'query', 'variables', 'id', '__proto__'];
const KNOWN = [FINGERPRINT_QUERY, CAPTCHA_MUTATION, ENTITIES_QUERY];

/** Gives a function that makes the body of a request of a list of numbers. */
export function createRequestMaker(schema: GraphQLSchema): (numbers: readonly number[]) => string {
  const makeDocument = createDocumentMaker(schema);
  return (numbers) => {
    const { upTo, chance, oneOf, several } = createChoices(numbers);
    const entry = (depth: number) => `${JSON.stringify(oneOf(NAMES))}:${json(depth + 1)}`;

    function json(depth: number): string {
      const kind = upTo(depth > 3 ? 3 : 7);
      if (kind < 2) return JSON.stringify(`${CANARY}${upTo(999)}`);
      if (kind === 2) return oneOf(LITERALS);
      if (kind === 3) return chance(1) ? '['.repeat(9_000) + ']'.repeat(9_000) : '[]';
      if (kind === 4) return `[${several(3, () => json(depth + 1), ',')}]`;
      return `{${several(8, () => entry(depth), ',')}}`;
    }

    const variables = `{${several(9, () => entry(0), ',')}}`;
    const extra = chance(4) ? `,${JSON.stringify(oneOf(EXTRAS))}:${json(2)}` : '';
    const query = chance(20) ? oneOf(KNOWN) : makeDocument(numbers.slice(numbers.length / 4));
    return `{"query":${JSON.stringify(query)},"variables":${variables}${extra}}`;
  };
}
