import { type AuditResult, serverAudits } from 'graphql-http';
import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';

/**
 * The audits of "GraphQL over HTTP" by its reference implementation, against the running endpoint. They are sent
 * unchanged: without `apollo-require-preflight`, because whatever could need it is refused before Apollo Server's CSRF check,
 * for its method or for its content type.
 */

const GET_IS_REFUSED = { status: 'notice', reason: 'Response status code is not 200', http: 405 } as const;
const WRONG_IS_400 = { status: 'warn', reason: 'Response status code is not 200', http: 400 } as const;

interface Deviation {
  readonly why: string;
  readonly found: { readonly status: 'notice' | 'warn'; readonly reason: string; readonly http: number };
}

/** Every audit that reports a deviation, by its id. An audit that is not here must pass, and one that is here must report it. */
const DEVIATIONS: Readonly<Record<string, Deviation>> = {
  '5A70': {
    why: 'A device token is a variable, and with GET that means in the URL: in logs, histories and caches.',
    found: GET_IS_REFUSED,
  },
  D6D5: { why: 'The same, with variables, accepting application/graphql-response+json.', found: GET_IS_REFUSED },
  '6A70': { why: 'The same, with variables, accepting application/json.', found: GET_IS_REFUSED },
  '572B': {
    why: 'A document that cannot be parsed is a wrong request, whatever the caller accepts: load balancers, alerts and retry rules see no more of it than its status.',
    found: WRONG_IS_400,
  },
  FDE2: { why: 'The same; the name of the field that this audit asks for is no name in GraphQL.', found: WRONG_IS_400 },
  '7B9B': {
    why: 'The same; the document of this audit is not even valid, since its variable is never used.',
    found: WRONG_IS_400,
  },
};

const app = await startInSandboxMode();
afterAll(() => app.stop());
const audits = serverAudits({ url: app.graphqlUrl });

function summarize(result: AuditResult) {
  if (result.status === 'ok') return { status: result.status };
  return { status: result.status, reason: result.reason, http: result.response.status };
}

describe('GraphQL over HTTP', () => {
  test.each(audits)('$id $name', async ({ id, fn }) => {
    const { why, found } = DEVIATIONS[id] ?? { why: 'nothing to explain', found: { status: 'ok' } };
    expect(summarize(await fn()), why).toEqual(found);
  });

  test('every deviation belongs to an audit', () => {
    expect(audits.map(({ id }) => id)).toEqual(expect.arrayContaining(Object.keys(DEVIATIONS)));
  });
});
