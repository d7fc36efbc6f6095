import { type DirectiveNode, type GraphQLField, getNamedType, isObjectType, print } from 'graphql';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { ANDROID } from '../faults/documented.ts';
import { startInLiveMode, startInSandboxMode } from '../support/app.ts';
import { ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { type GraphqlAnswer, post, request } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** What has the tag `risk` needs the scope `risk:read`: without it a field is null with FORBIDDEN, and the rest is whole. */

const ROUTER = 'the-secret-of-the-router';
const ORDERS = { name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] } as const;
const SHOP = { name: 'shop', secret: 'the-secret-of-the-shop', scopes: [] } as const;
const CONFIG = { routerSecrets: [ROUTER], trustedHeaders: { subject: undefined, scopes: 'x-user-scopes' } };

const upstream = await startUpstream((_request, response) => sendJson(response, 200, ANDROID));
const { url } = upstream;
const app = await startInLiveMode({ GLB: url, NA: url, EU: url }, { ...CONFIG, services: [ORDERS, SHOP] });
afterAll(() => Promise.all([app.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
});

type Headers = Readonly<Record<string, string>>;
const WITHOUT: Headers = { 'router-authorization': ROUTER, 'x-user-scopes': 'openid' };
const WITH: Headers = { 'router-authorization': ROUTER, 'x-user-scopes': 'openid risk:read' };
const ask = (query: string, headers: Headers, variables = {}) =>
  post(app.graphqlUrl, JSON.stringify({ query, variables }), headers);
const codesOf = ({ errors = [] }: GraphqlAnswer) => errors.map(({ path, extensions }) => [path?.join('.'), extensions]);
const FORBIDDEN = { code: 'FORBIDDEN', retryable: false };

const isTagged = (node: { readonly directives?: readonly DirectiveNode[] | undefined } | null | undefined) =>
  (node?.directives ?? []).map(print).includes('@tag(name: "risk")');

const types = Object.values(buildSchema().getTypeMap()).filter(isObjectType);
const typeTags = new Map(types.map(({ name, astNode }) => [name, isTagged(astNode)]));
/** Every field outside the tagged types that has the tag, or whose type has it. */
const TAGGED = types
  .filter(({ name }) => !typeTags.get(name))
  .flatMap((type) =>
    Object.values(type.getFields()).map((field): [string, GraphQLField<unknown, unknown>] => [type.name, field]),
  )
  .filter(([, { astNode, type }]) => isTagged(astNode) || typeTags.get(getNamedType(type).name));

test('a header of one space, with which Cosmo Router overwrites what a client sent, gives no scope', async () => {
  const answer = await ask('{ signalCatalogue { code } }', { 'router-authorization': ROUTER, 'x-user-scopes': ' ' });
  expect(codesOf(answer)).toEqual([['signalCatalogue', FORBIDDEN]]);
});

test('these fields and types have the tag', () => {
  const names = TAGGED.map(([type, { name }]) => `${type}.${name}`);
  expect(names).toEqual(expect.arrayContaining(EXPECTED));
  expect([...typeTags].filter(([, is]) => is).map(([name]) => name)).toEqual(
    expect.arrayContaining(['Device', 'IpInfo', 'Signal', 'SignalDefinition']),
  );
});
const EXPECTED = [
  'Query.signalCatalogue',
  ...['device', 'ipInfo', 'signals'].map((name) => `DeviceFingerprint.${name}`),
];

describe.each(TAGGED.map(([type, field]) => [`${type}.${field.name}`, type, field] as const))(
  '%s',
  (_name, type, field) => {
    const selection = `${field.name}${isObjectType(getNamedType(field.type)) ? ' { __typename }' : ''}`;
    const document =
      type === 'Query'
        ? `{ __typename ${selection} }`
        : `{ deviceFingerprint(token: "t") { __typename ... on ${type} { clientType ${selection} } } }`;

    test.each(['executed by Apollo Server', 'compiled'])(
      'is null with FORBIDDEN without the scope, %s',
      async (way) => {
        for (let times = way === 'compiled' ? 3 : 0; times > 0; times -= 1) await ask(document, WITHOUT);
        const answer = await ask(document, WITHOUT);
        const root = type === 'Query' ? '' : 'deviceFingerprint.';
        expect(codesOf(answer)).toEqual([[`${root}${field.name}`, FORBIDDEN]]);
        expect(answer.data).toEqual(
          type === 'Query'
            ? { __typename: 'Query', [field.name]: null }
            : { deviceFingerprint: { __typename: type, clientType: 'ANDROID', [field.name]: null } },
        );
      },
    );
  },
);

describe('a caller', () => {
  const bearer = ({ secret }: { secret: string }) => ({ authorization: `Bearer ${secret}` });
  test.each<[string, Headers, boolean]>([
    ['the router for a person with the scope', WITH, true],
    ['the router for a person with other scopes', WITHOUT, false],
    ['the router without the header', { 'router-authorization': ROUTER }, false],
    ['a service with the scope', bearer(ORDERS), true],
    ['a service without it', bearer(SHOP), false],
    ['a service that claims the scope in the header', { ...bearer(SHOP), 'x-user-scopes': 'risk:read' }, false],
  ])('%s', async (_who, headers, may) => {
    const { data, errors } = await ask(FINGERPRINT_QUERY, headers, { token: 't' });
    const { signals, device, ipInfo, ...rest } = data.deviceFingerprint;
    expect([signals, device, ipInfo].map((value) => value !== null)).toEqual([may, may, may]);
    expect(rest).toMatchObject({
      __typename: 'DeviceFingerprint',
      clientType: 'ANDROID',
      deviceBasic: {},
      version: '1.0',
    });
    expect(errors?.length ?? 0).toBe(may ? 0 : 3);
  });

  test('sees everything where scopes are not enforced', async () => {
    const open = await startInSandboxMode();
    try {
      const query =
        '{ signalCatalogue { code } deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { device { id } } } }';
      const { data, errors } = await post(open.graphqlUrl, JSON.stringify({ query }), { 'x-user-scopes': 'openid' });
      expect(errors).toBeUndefined();
      expect(data.signalCatalogue).toHaveLength(51);
      expect(data.deviceFingerprint.device.id).toMatch(/./);
    } finally {
      await open.stop();
    }
  });
});

describe('references', () => {
  const representations = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ __typename: 'DeviceFingerprint', token: `t${at % 50}` }));

  test('are whole apart from these fields', async () => {
    const answer = await ask(ENTITIES_QUERY, WITHOUT, { representations: representations(2) });
    expect(codesOf(answer)).toEqual(
      [0, 1].flatMap((at) => ['device', 'ipInfo', 'signals'].map((name) => [`_entities.${at}.${name}`, FORBIDDEN])),
    );
    expect(answer.data._entities).toMatchObject([{ clientType: 'ANDROID' }, { clientType: 'ANDROID' }]);
  });

  test.each(['executed by Apollo Server', 'compiled'])('have at most 100 such errors in all, %s', async (way) => {
    const selection = Array.from({ length: 30 }, (_, at) => `a${at}: device { id }`).join(' ');
    const document = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on DeviceFingerprint { version ${selection} } } }`;
    for (let times = way === 'compiled' ? 3 : 0; times > 0; times -= 1) await ask(document, WITHOUT, { r: [] });
    const { data, errors, text } = await ask(document, WITHOUT, { r: representations(1_000) });
    expect(errors).toHaveLength(100);
    expect(errors?.[0]?.path).toEqual(['_entities', 0, 'a0']);
    expect(data._entities).toHaveLength(1_000);
    expect(text).not.toContain('"id"');
    for (const { version, ...devices } of data._entities) {
      expect(version).toBe('1.0');
      expect(new Set(Object.values(devices))).toEqual(new Set([null]));
    }
  });
});

describe('nothing is sent to the service', () => {
  const entities = (selection: string) =>
    `{ _entities(representations: [{ __typename: "DeviceFingerprint", token: "t" }]) { ${selection} } }`;
  test.each([
    [
      'one device',
      '{ deviceFingerprint(token: "t") { ... on DeviceFingerprint { signals { code } device { id } } } }',
      ['deviceFingerprint.device', 'deviceFingerprint.signals'],
    ],
    ['a reference', entities('... on DeviceFingerprint { ipInfo { ip } }'), ['_entities.0.ipInfo']],
    ['a fragment', `${entities('...F')} fragment F on DeviceFingerprint { a: signals { code } }`, ['_entities.0.a']],
    [
      'a reference and its keys',
      entities('__typename ... on DeviceFingerprint { __typename token publicKey ipInfo { ip } }'),
      ['_entities.0.ipInfo'],
    ],
    ['the catalogue', '{ signalCatalogue { code } }', ['signalCatalogue']],
  ])('if only such fields are selected of %s', async (_what, document, paths) => {
    const answer = await ask(document, WITHOUT);
    expect(codesOf(answer)).toEqual(paths.map((path) => [path, FORBIDDEN]));
    expect(upstream.received).toEqual([]);
  });

  test.each([
    ['the keys of a reference alone', entities('__typename ... on DeviceFingerprint { token publicKey }')],
    ['a public field', entities('... on DeviceFingerprint { clientType signals { code } }')],
    ['a skipped public field', entities('... on DeviceFingerprint { clientType @skip(if: true) signals { code } }')],
    [
      'the type of an outcome',
      '{ deviceFingerprint(token: "t") { __typename ... on DeviceFingerprint { signals { code } } } }',
    ],
    [
      'the rejection',
      '{ deviceFingerprint(token: "t") { ... on DeviceFingerprint { signals { code } } ... on DeviceFingerprintRejected { reason } } }',
    ],
  ])('unless the selection is or has %s', async (_what, document) => {
    await ask(document, WITHOUT);
    expect(upstream.received).toHaveLength(1);
  });
});

test('a caller without the scope reads neither token nor signal, and neither does the log', async () => {
  const token = 'a-token-nobody-may-read';
  const { signals, fp_detail, detail } = ANDROID.data;
  const text = [
    await ask(FINGERPRINT_QUERY, WITHOUT, { token }),
    await ask(ENTITIES_QUERY, WITHOUT, { representations: [{ __typename: 'DeviceFingerprint', token }] }),
    await ask('{ signalCatalogue { code meaning } }', WITHOUT),
  ].map((answer) => answer.text);
  const { text: metrics } = await request(app.metricsUrl);
  const shown = [...text, app.logged()].join('\n');
  const hidden = [token, fp_detail.device_id, detail.ip_info.ip, ...signals.map(({ signal }) => signal)];
  expect(signals.length).toBeGreaterThan(0);
  for (const value of hidden) expect(shown).not.toContain(value);
  for (const value of hidden.slice(0, 3)) expect(metrics).not.toContain(value);
});
