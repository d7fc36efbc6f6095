import { type DirectiveNode, type GraphQLField, getNamedType, isAbstractType, isObjectType, print } from 'graphql';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { schemaOf } from '../../src/graphql/schema.ts';
import { SLICES } from '../../src/slices.ts';
import { ANDROID } from '../faults/documented.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { entitiesQuery } from '../support/graphql.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import { type GraphqlAnswer, post } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** What has the tag `risk` needs the scope `risk:read`: without it a field is null with FORBIDDEN, and the rest is whole. */

const ROUTER = 'the-secret-of-the-router';
const ORDERS = { name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] } as const;
const SHOP = { name: 'shop', secret: 'the-secret-of-the-shop', scopes: [] } as const;
const CONFIG = { routerSecrets: [ROUTER], trustedHeaders: { subject: undefined, scopes: 'x-user-scopes' } };

const upstream = await startUpstream((_request, response) => sendJson(response, 200, ANDROID));
const { url } = upstream;
const live = { sealingKeys: SEALING_KEYS, services: [ORDERS, SHOP], ...CONFIG };
const app = await startInLiveMode({ GLB: url, NA: url, EU: url }, live);
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

const types = Object.values(schemaOf(SLICES).getTypeMap()).filter(isObjectType);
const typeTags = new Map(types.map(({ name, astNode }) => [name, isTagged(astNode)]));
/** Every field outside the tagged types that has the tag, or whose type has it. */
const TAGGED = types
  .filter(({ name }) => !typeTags.get(name))
  .flatMap((type) =>
    Object.values(type.getFields()).map((field): [string, GraphQLField<unknown, unknown>] => [type.name, field]),
  )
  .filter(([, { astNode, type }]) => isTagged(astNode) || typeTags.get(getNamedType(type).name));

const selectionOf = ({ name, type }: GraphQLField<unknown, unknown>) =>
  `${name}${isObjectType(getNamedType(type)) ? ' { __typename }' : ''}`;
/** Those of a judged device; `public-contract.json` lists the fields without the tag. */
const RISKY = TAGGED.flatMap(([type, field]) => (type === 'DeviceFingerprint' ? [field] : []));
const JUDGED = `__typename clientType version ${RISKY.map(selectionOf).join(' ')}`;
const judge = (fields: string) => `{ deviceFingerprint(token: "t") { ... on DeviceFingerprint { ${fields} } } }`;

// Apollo Server answers a document at first, and compiled code once it was sent several times.
const TIMES = [1, 2, 3, 4, 5];

test.each(TAGGED.map(([type, field]) => [`${type}.${field.name}`, type, field] as const))(
  'a field with the tag `risk` is null with FORBIDDEN without the scope: %s',
  async (_name, type, field) => {
    const { name } = field;
    const selection = selectionOf(field);
    const [document, root, expected] =
      type === 'Query'
        ? [`{ __typename ${selection} }`, '', { __typename: 'Query', [name]: null }]
        : [
            `{ deviceFingerprint(token: "t") { __typename ... on ${type} { clientType ${selection} } } }`,
            'deviceFingerprint.',
            { deviceFingerprint: { __typename: type, clientType: 'ANDROID', [name]: null } },
          ];
    for (const _time of TIMES) {
      const answer = await ask(document, WITHOUT);
      expect(codesOf(answer)).toEqual([[`${root}${name}`, FORBIDDEN]]);
      expect(answer.data).toEqual(expected);
    }
  },
);

const bearer = ({ secret }: { secret: string }) => ({ authorization: `Bearer ${secret}` });
test.each<[string, Headers, boolean]>([
  ['the router for a person with the scope', WITH, true],
  ['the router for a person with other scopes', WITHOUT, false],
  ['the router without the header', { 'router-authorization': ROUTER }, false],
  ['a service with the scope', bearer(ORDERS), true],
  ['a service without it', bearer(SHOP), false],
  ['a service that claims the scope in the header', { ...bearer(SHOP), 'x-user-scopes': 'risk:read' }, false],
])('the scope risk:read, asked by %s', async (_who, headers, may) => {
  const { data, errors = [] } = await ask(judge(JUDGED), headers);
  const { __typename, clientType, version, ...risky } = data.deviceFingerprint;
  expect(Object.values(risky).map((value) => value !== null)).toEqual(RISKY.map(() => may));
  expect([__typename, clientType, version]).toEqual(['DeviceFingerprint', 'ANDROID', '1.0']);
  expect(errors).toHaveLength(may ? 0 : RISKY.length);
});

const representations = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ __typename: 'DeviceFingerprint', token: `t${at % 50}` }));

test('references without the scope are whole apart from the fields with the tag', async () => {
  const answer = await ask(entitiesQuery(JUDGED), WITHOUT, { representations: representations(2) });
  expect(codesOf(answer)).toEqual(
    [0, 1].flatMap((at) => RISKY.map(({ name }) => [`_entities.${at}.${name}`, FORBIDDEN])),
  );
  expect(answer.data._entities).toMatchObject([{ clientType: 'ANDROID' }, { clientType: 'ANDROID' }]);
});

test.each(['executed by Apollo Server', 'compiled'])(
  'references without the scope have at most 100 errors in all, %s',
  async (way) => {
    const selection = Array.from({ length: 30 }, (_, at) => `a${at}: device { id }`).join(' ');
    const document = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on DeviceFingerprint { version ${selection} } } }`;
    for (let times = way === 'compiled' ? 3 : 0; times > 0; times -= 1) await ask(document, WITHOUT, { r: [] });
    const { data, errors, text } = await ask(document, WITHOUT, { r: representations(1_000) });
    expect(errors).toHaveLength(100);
    const last = errors?.filter(({ message }) =>
      message.endsWith(' Further refused fields are null without an error.'),
    );
    expect(last).toHaveLength(1);
    expect(errors?.[0]?.path).toEqual(['_entities', 0, 'a0']);
    expect(data._entities).toHaveLength(1_000);
    expect(text).not.toContain('"id"');
    for (const { version, ...devices } of data._entities) {
      expect(version).toBe('1.0');
      expect(new Set(Object.values(devices))).toEqual(new Set([null]));
    }
  },
);

const OPEN = `query ($references: [_Any!]!) {
  _entities(representations: $references) {
    ... on DeviceJudgement { sealed eventId subject decision { action } signals { code } device { id } }
  }
}`;
/** All samples about judgements and decisions. */
const counted = async () => {
  const { samples } = await readMetrics(app);
  return samples.filter(({ name }) => /_(judgements|decisions)_total$/.test(name));
};

test('without the scope the decision and the judgement of a device are null, nothing is decided or sealed, and the rest is whole', async () => {
  const before = await counted();
  for (const _time of TIMES) {
    const answer = await ask(judge('clientType decision { action rule } judgement { sealed }'), WITHOUT);
    expect(answer.data.deviceFingerprint).toEqual({ clientType: 'ANDROID', decision: null, judgement: null });
    expect(codesOf(answer)).toEqual([
      ['deviceFingerprint.decision', FORBIDDEN],
      ['deviceFingerprint.judgement', FORBIDDEN],
    ]);
  }
  expect(await counted()).toEqual(before);
});

test('without the scope a stored judgement is not opened, whether it could be or not, and what is beside it is whole', async () => {
  const { data } = await ask(judge('judgement { sealed }'), WITH);
  const { sealed } = data.deviceFingerprint.judgement;
  const before = await counted();
  const references = [sealed, 'made up'].map((text) => ({ __typename: 'DeviceJudgement', sealed: text }));
  for (const _time of TIMES) {
    const answer = await ask(OPEN, WITHOUT, { references });
    expect(answer.data._entities).toEqual([null, null]);
    expect(codesOf(answer)).toEqual([0, 1].map((at) => [`_entities.${at}`, FORBIDDEN]));
    expect(answer.text).not.toContain(sealed);
  }
  expect(await counted()).toEqual(before);
});

test('a union or an interface with a type that has the tag has it too, apart from _Entity, whose references are checked', () => {
  const schema = schemaOf(SLICES);
  const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType);
  const leads = abstract.filter((type) => schema.getPossibleTypes(type).some(({ name }) => typeTags.get(name)));
  expect(leads.filter(({ astNode }) => !isTagged(astNode)).map(({ name }) => name)).toEqual(['_Entity']);
});
