import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ANDROID } from '../faults/documented.ts';
import { startInLiveMode } from '../support/app.ts';
import { FINGERPRINT_FIELDS, JUDGED_FRAGMENT } from '../support/graphql.ts';
import { type GraphqlAnswer, post } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Requests that are new, or wrong: documents under many names, documents that are refused each time. */

const upstream = await startUpstream((received, response) => {
  const { device_token: token = '' } = received.url.startsWith('/api') ? JSON.parse(received.body) : {};
  if (token === 'bad') sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors: [] } });
  else sendJson(response, 200, ANDROID);
});
const app = await startInLiveMode({ GLB: upstream.url, NA: upstream.url, EU: upstream.url });
afterAll(() => Promise.all([app.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
});

const ask = (query: string, variables: unknown = {}, operationName?: string): Promise<GraphqlAnswer> =>
  post(app.graphqlUrl, JSON.stringify({ query, variables, operationName }));

/** The log line of the last operation, whose name is in it. */
const lastOperation = () =>
  JSON.parse(
    app
      .logged()
      .trim()
      .split('\n')
      .findLast((line) => line.includes('"operation"')) ?? '',
  );

describe('documents that differ in the name of their operation only', () => {
  const named = (name: string) => `
    query ${name}($token: String!) { deviceFingerprint(token: $token) { ${FINGERPRINT_FIELDS} } } ${JUDGED_FRAGMENT}`;
  // The error is in the line of the name, so its column depends on the name.
  const failing = (name: string) => `query ${name}($key: ID) { a: __typename
    b: deviceFingerprint(token: "t", publicKey: $key) { __typename } c: __typename } `;
  const failingInLine = (name: string) => failing(name).replaceAll(/\s+/g, ' ');

  test.each([
    ['with data', named, { token: 'good' }],
    ['with an error in another line', failing, { key: 'pk_of_nobody' }],
    ['with an error in the line of the name', failingInLine, { key: 'pk_of_nobody' }],
  ])('%s, are answered as a document that is new', async (_what, document, variables) => {
    for (let time = 0; time < 4; time += 1) await ask(document('First'), variables);
    for (const name of ['A', 'First', 'A_much_longer_name_2']) {
      const compiled = await ask(document(name), variables);
      // A comment makes it another document, of the same lines and columns.
      const anew = await ask(`${document(name)}# ${name}`, variables);
      expect(compiled.text).toBe(anew.text);
      expect(compiled.status).toBe(anew.status);
    }
  });

  test('are each in the log under their own name, and only this name selects them', async () => {
    for (let time = 0; time < 4; time += 1) await ask(named('Before'), { token: 'good' });
    for (const operationName of [undefined, 'Later']) {
      expect((await ask(named('Later'), { token: 'good' }, operationName)).errors).toBeUndefined();
      expect(lastOperation()).toMatchObject({ operation: 'Later' });
    }
    const { errors } = await ask(named('Later'), { token: 'good' }, 'Before');
    expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }]);
  });

  test('include one without a name', async () => {
    const document = (name: string) => `query ${name} { signalCatalogue { code } }`;
    for (let time = 0; time < 4; time += 1) await ask(document('Before'));
    expect((await ask(document(''), {}, 'Before')).errors).toMatchObject([
      { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
    ]);
    expect((await ask(document(''))).data.signalCatalogue).toHaveLength(51);
    expect(lastOperation().operation).toBeUndefined();
  });
});

describe('a document that is refused', () => {
  test.each<[string, string, string | undefined]>([
    ['with an unknown field', '{ nothing }', undefined],
    ['that does not parse', '{ nothing', undefined],
    ['without the operation that is named', 'query A { __typename }', 'B'],
    ['with two operations of which none is named', 'query A { __typename } query B { __typename }', undefined],
  ])('%s is answered alike each time', async (_what, query, operationName) => {
    const answers = [];
    for (let time = 0; time < 4; time += 1) answers.push(await ask(query, { time }, operationName));
    expect(answers[0]?.errors).toHaveLength(1);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  });

  test('for one name is answered for another', async () => {
    const query = 'query A { __typename } query B { b: __typename }';
    for (const _ of [1, 2, 3]) expect((await ask(query, {}, 'C')).errors).toHaveLength(1);
    expect((await ask(query, {}, 'B')).data).toEqual({ b: 'Query' });
    expect((await ask(query)).errors).toHaveLength(1);
    expect((await ask(query, {}, 'A')).data).toEqual({ __typename: 'Query' });
  });
});
