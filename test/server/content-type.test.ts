import { array, assert, asyncProperty, constantFrom, double, tuple } from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { negotiateContentType } from '../../src/server/content-type.ts';
import { startInSandboxMode } from '../support/app.ts';
import { post } from '../support/requests.ts';

const app = await startInSandboxMode();
afterAll(() => app.stop());

describe('the content type of a response', () => {
  test.each([
    [undefined, 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['application/json', 'application/json; charset=utf-8'],
    ['application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
    ['application/json;q=0.5, application/graphql-response+json', 'application/graphql-response+json; charset=utf-8'],
    ['text/html, application/*;q=0.1', 'application/json; charset=utf-8'],
    ['image/png', undefined],
    ['application/json;q=0', undefined],
  ])('for Accept: %s is %s', (accept, type) => {
    // Twice, because the second time comes from a cache.
    expect(negotiateContentType(accept)).toBe(type);
    expect(negotiateContentType(accept)).toBe(type);
  });

  test('for a header of more than 500 characters is left to Apollo Server, so that it is not parsed once more', async () => {
    const long = `${'a/b,'.repeat(122)}application/json`;
    expect(negotiateContentType(long.slice(4))).toBe('application/json; charset=utf-8');
    expect(negotiateContentType(long)).toBeUndefined();
    for (const query of ['{ __typename }', '{ wrong }'])
      for (let time = 0; time < 4; time += 1) {
        const { status, headers } = await post(app.graphqlUrl, JSON.stringify({ query }), { accept: long });
        expect(status).toBe(query === '{ wrong }' ? 400 : 200);
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      }
  });

  const mediaTypes = constantFrom(
    '*/*',
    'application/*',
    'application/json',
    'application/graphql-response+json',
    'application/json; charset=utf-8',
    'multipart/mixed; deferSpec=20220824',
    'text/html',
    'nonsense',
  );
  const quality = double({ min: 0, max: 1, noNaN: true }).map((q) => `;q=${q.toFixed(2)}`);
  const acceptHeaders = array(tuple(mediaTypes, quality), { minLength: 1, maxLength: 4 });

  test('is the same whether Apollo Server or compiled code answers, for any Accept header', async () => {
    let documents = 0;
    await assert(
      asyncProperty(acceptHeaders, async (ranges) => {
        const accept = ranges.map((range) => range.join('')).join(', ');
        documents += 1;
        const body = JSON.stringify({ query: `{ a${documents}: __typename }` });
        const answers = [];
        // Compiled at the third time.
        for (let time = 0; time < 4; time += 1) answers.push(await post(app.graphqlUrl, body, { accept }));
        const [byApollo, , , byCompiledCode] = answers.map(({ status, text, headers }) => [
          status,
          headers.get('content-type'),
          text,
        ]);
        expect(byCompiledCode).toEqual(byApollo);
      }),
      { numRuns: 60 },
    );
  });
});
