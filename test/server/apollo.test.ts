import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { ask } from '../support/requests.ts';
import { startWithoutUpstreams } from './support.ts';

/** What a client can read of the schema: everything in sandbox mode, and only the SDL for a router in live mode. */

const sandbox = await startInSandboxMode();
const live = await startWithoutUpstreams();
afterAll(() => Promise.all([sandbox.stop(), live.stop()]));

const INTROSPECTION = '{ __schema { queryType { name } types { name } } }';

describe('sandbox mode', () => {
  test('introspection works', async () => {
    const { data, errors } = await ask(sandbox.graphqlUrl, INTROSPECTION);
    expect(errors).toBeUndefined();
    expect(data.__schema.types).toContainEqual({ name: 'DeviceFingerprint' });
  });

  test('a misspelt name gets a suggestion', async () => {
    const { errors } = await ask(sandbox.graphqlUrl, '{ signalCatalog { code } }');
    expect(errors?.[0]?.message).toContain('Did you mean "signalCatalogue"?');
  });
});

describe('live mode', () => {
  test.each([INTROSPECTION, '{ __type(name: "Query") { name } }', '{ a: __schema { b: types { name } } }'])(
    'introspection is refused: %s',
    async (query) => {
      const { status, data, errors, text } = await ask(live.graphqlUrl, query);
      expect(status).toBe(400);
      expect(data).toBeUndefined();
      expect(errors?.[0]?.extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED', retryable: false });
      expect(text).not.toContain('DeviceFingerprint');
    },
  );

  test('a router gets the SDL', async () => {
    const { data, errors } = await ask(live.graphqlUrl, '{ _service { sdl } }');
    expect(errors).toBeUndefined();
    expect(data._service.sdl).toContain('type DeviceFingerprint');
  });

  test.each([
    ['{ signalCatalog { code } }', 'signalCatalogue'],
    ['{ signalCatalogue { confidenc } }', '"confidence"'],
    ['query ($t: Strin!) { deviceFingerprint(token: $t) { __typename } }', 'String'],
    ['{ deviceFingerprint(toke: "x") { __typename } }', '"token"?'],
    ['{ deviceFingerprint(token: "x", metadata: { emai: "x" }) { __typename } }', '"email"'],
    ['{ deviceFingerprint(token: "x") { ... on DeviceFingerprin { version } } }', 'DeviceFingerprint"'],
    ['{ deviceFingerprint(token: "x") { ... on DeviceFingerprint { signals(minLevel: HIG) { name } } } }', 'HIGH'],
  ])('a misspelt name gets no suggestion: %s', async (query, hint) => {
    const { status, text } = await ask(live.graphqlUrl, query);
    expect(status).toBe(400);
    expect(text).not.toMatch(/did you mean/i);
    expect(text.replaceAll('\\', '')).not.toContain(hint);
  });
});
