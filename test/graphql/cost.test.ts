import { parse, print, visit } from 'graphql';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { checkCost, costOf, type OperationCost } from '../../src/graphql/cost.ts';
import { documentOf, schemaOf } from '../../src/graphql/schema.ts';
import type { CostLimits } from '../../src/graphql/settings.ts';
import { sizeOf } from '../../src/runtime/json.ts';
import { SLICES } from '../../src/slices.ts';
import { ANDROID } from '../faults/documented.ts';
import signals from '../fixtures/signals.json' with { type: 'json' };
import { DEFAULTS, startInLiveMode } from '../support/app.ts';
import { ENTITIES_QUERY, entitiesQuery, referencesTo } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { pieces } from '../support/times.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { PARTS, startSubgraph } from './capabilities.ts';

/** The cost of a request is known before it runs. */

const phone = (count: number) => ({ ...ANDROID, data: { ...ANDROID.data, signals: signals.slice(0, count) } });
/** The token of a device with every signal. */
const ALL = `${signals.length}-canary`;

/** A token `10-a` is of a device with ten signals. */
const upstream = await startUpstream(({ body }, response) => {
  const count = Number.parseInt(JSON.parse(body).device_token, 10);
  if (Number.isNaN(count)) return sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} });
  return sendJson(response, 200, phone(count));
});
const app = await startInLiveMode(upstream.url);
afterAll(() => Promise.all([app.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
});

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 1]));
const references = (count: number, token: string) => referencesTo(Array(count).fill(token));
const ATTACK = pieces(100, (at) => `a${at}: signals { name }`);

/** Apollo Server executes a document that is new, and compiled code one that was sent several times. */
const WAYS = ['new', 'compiled'] as const;
async function askBy(way: (typeof WAYS)[number], document: string, variables: Record<string, unknown>) {
  if (way === 'compiled') {
    for (let time = 0; time < 4; time += 1) await ask(app.graphqlUrl, document, references(1, '1-a'));
    upstream.received.length = 0;
  }
  return ask(app.graphqlUrl, document, variables);
}

describe.each(WAYS)('a document that is %s', (way) => {
  test('an operation with 1,000 references and everything selected is answered', async () => {
    const { errors, data } = await askBy(way, ENTITIES_QUERY, references(1_000, '10-canary'));
    expect(errors).toBeUndefined();
    expect(data._entities).toHaveLength(1_000);
    expect(data._entities[999].signals).toHaveLength(10);
  });

  test('an operation with 100 aliases of a list for 1,000 references is refused before any call', async () => {
    const { status, errors, text } = await askBy(
      way,
      entitiesQuery(ATTACK).replace('query', `query ${way}`),
      references(1_000, ALL),
    );
    expect(status).toBe(400);
    expect(errors).toEqual([
      {
        message: 'The request costs more than 119000. Ask for fewer references, fields or values in one request.',
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    expect(text).not.toContain('canary');
    expect(upstream.received).toEqual([]);
  });

  test('an operation whose lists turn out five times as long as assumed fails before they are written', async () => {
    const { status, data, errors } = await askBy(way, ENTITIES_QUERY, references(1_000, ALL));
    expect([status, data]).toEqual([200, null]);
    expect(errors).toMatchObject([{ extensions: { code: 'OVERLOADED', retryable: false } }]);
    expect(errors?.[0]?.message).toContain('119000');
  });
});

const beside = (aliases: number) =>
  entitiesQuery('signals { name }').replace(
    /}$/,
    pieces(aliases, (at) => `c${at}: signalCatalogue { code level effect }`).concat(' }'),
  );

test.each([
  [10, undefined],
  [100, ['OVERLOADED']],
])('lists that turn out longer than assumed count with what else is asked: %i catalogues', async (aliases, codes) => {
  const { status, errors } = await ask(app.graphqlUrl, beside(aliases), references(1_000, ALL));
  expect([status, errors?.map(({ extensions }) => extensions.code)]).toEqual([200, codes]);
});

test('a request may cost as much as the limit', async () => {
  const { graphqlUrl, stop } = await startSubgraph({}, { ...PARTS, maxCost: 1 + signals.length * 2 });
  expect((await ask(graphqlUrl, '{ signalCatalogue { code } }')).errors).toBeUndefined();
  await stop();
});

const judge = (at: number) => `a${at}: deviceFingerprint(token: "1-${at}", metadata: $m) { __typename }`;
const document = `query ($m: DeviceMetadataInput) { ${pieces(100, judge)} }`;

test.each<[string, Record<string, unknown>]>([
  ['9,000 keys', { additional: keys(9_000) }],
  ['100,000 characters', { accountId: 'x'.repeat(100_000) }],
])('%s for 100 calls are refused before any of them', async (_what, m) => {
  const { status, errors } = await ask(app.graphqlUrl, document, { m });
  expect([status, errors?.[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
  expect(upstream.received).toEqual([]);
});

const schema = schemaOf(SLICES);
const of = (text: string) => {
  const document = parse(text);
  const [operation] = document.definitions;
  if (operation?.kind !== 'OperationDefinition') throw new Error('expected an operation first');
  const root = schema.getRootType(operation.operation);
  if (!root) throw new Error('expected an operation of the schema');
  const fragments = Object.fromEntries(
    document.definitions.flatMap((node) => (node.kind === 'FragmentDefinition' ? [[node.name.value, node]] : [])),
  );
  return costOf(operation, root, { schema, fragments });
};
const isWithin = (cost: OperationCost, variables: Record<string, unknown>, limits: CostLimits) => {
  try {
    return checkCost(cost, variables, limits) <= limits.maxCost;
  } catch {
    return false;
  }
};

const captcha = (fields: string) => `mutation { validateCaptcha(input: { lotNumber: "l" }) { ${fields} } }`;

// Counted by hand: a field is 1, and so is each object that it returns.
test.each<[number, string]>([
  [1, '{ __typename }'],
  [1 + signals.length * (1 + 2), '{ signalCatalogue { code level } }'],
  [2 * (1 + signals.length * 2), '{ signalCatalogue { code } again: signalCatalogue { code } }'],
  [1 + signals.length * 2, '{ ...F ...F } fragment F on Query { signalCatalogue { code } }'],
  [1 + 1 + 1 + 10 * 2, '{ deviceFingerprint(token: "t") { ... on DeviceFingerprint { signals { name } } } }'],
  [1 + 1 + 1 + 10 * 2, '{ deviceFingerprint(token: "t") { ... on DeviceAssessment { signals { name } } } }'],
  // Of the two types of the union the second one is the more expensive.
  [
    1 + 1 + 2 + 3 * 2,
    '{ deviceFingerprint(token: "t") { __typename ... on DeviceFingerprint { version } ... on DeviceFingerprintRejected { errors { field } } } }',
  ],
  [1 + 2 * (1 + 1), '{ _entities(representations: [{}, {}]) { __typename } }'],
  [1 + 1 + 1, captcha('proceed')],
  [1 + 1 + 3, captcha('attestation again: attestation ... on CaptchaPassed { third: attestation }')],
  // A fragment can be on an interface or a union as well. A rejection is no entity, so what is asked of entities adds nothing to it.
  [1 + 1 + 2, captcha('... on CaptchaValidation { proceed attestation }')],
  [
    1 + 1 + 1 + 3 * 2,
    '{ deviceFingerprint(token: "t") { ... on _Entity { __typename } ... on DeviceFingerprintRejected { errors { field } } } }',
  ],
])('the cost of an operation is %i for %s', (cost, document) => {
  expect(of(document)).toMatchObject({ fixed: cost, variables: [] });
});

test('the cost of an operation grows with the references, and with the values of the arguments', () => {
  const query = `query ($r: [_Any!]!, $t: String!) {
      _entities(representations: $r) { ... on DeviceFingerprint { device { id } } }
      deviceFingerprint(token: $t) { __typename }
    }`;
  const cost = of(query);
  // The field, four for each reference, three for the other field, the list and its texts, and the token.
  const total = 1 + 2 * 4 + 3 + (1 + 2) + (1 + 64 / 16);
  const variables = { r: ['', ''], t: 'x'.repeat(64) };
  expect(isWithin(cost, variables, { maxCost: total, maxRepresentations: 2 })).toBe(true);
  expect(isWithin(cost, variables, { maxCost: total - 1, maxRepresentations: 2 })).toBe(false);
  expect(isWithin(cost, variables, { maxCost: total, maxRepresentations: 1 })).toBe(false);
});

test('the cost of variables counts an object as four values, unless it is a reference', () => {
  const cost = of('query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }');
  // The field, two for each reference, the list, and the references with what is in them.
  const total = 1 + 2 * 2 + 1 + (1 + 4) + (1 + 2);
  const variables = { r: [{ '': {} }, [1, 1]] };
  expect(isWithin(cost, variables, { maxCost: total, maxRepresentations: 2 })).toBe(true);
  expect(isWithin(cost, variables, { maxCost: total - 1, maxRepresentations: 2 })).toBe(false);
});

test('the cost of variables counts a value that the document gives by default', () => {
  const cost = of('query ($r: [_Any!]! = ["a", "b", "c"]) { _entities(representations: $r) { __typename } }');
  expect(isWithin(cost, {}, { maxCost: 1_000, maxRepresentations: 3 })).toBe(true);
  expect(isWithin(cost, {}, { maxCost: 1_000, maxRepresentations: 2 })).toBe(false);
});

test('the cost of the largest request that should pass is just within the default', () => {
  // As long as 1,000 references can be in 128 KiB.
  const longest = { __typename: 'DeviceFingerprint', token: 'x'.repeat(60), publicKey: 'x'.repeat(16) };
  const variables = { representations: Array(1_000).fill(longest) };
  expect(JSON.stringify({ query: ENTITIES_QUERY, variables }).length).toBeGreaterThan(0.95 * 128 * 1024);
  expect(isWithin(of(ENTITIES_QUERY), variables, DEFAULTS)).toBe(true);
  expect(isWithin(of(ENTITIES_QUERY), variables, { ...DEFAULTS, maxCost: 0.9 * DEFAULTS.maxCost })).toBe(false);
});

test('the cost of variables takes any depth of a value', () => {
  expect(sizeOf(JSON.parse(`${'['.repeat(60_000)}${']'.repeat(60_000)}`), 16)).toBe(60_000);
});

test('every list of the schema assumes a size, and that of the signals their number', () => {
  const lists: string[] = [];
  visit(documentOf(SLICES), {
    FieldDefinition: ({ name, type, directives }) => {
      if (print(type).startsWith('[')) lists.push(`${name.value} ${directives?.map(print).join(' ')}`);
    },
  });
  const others = lists.filter((list) => !list.includes('@listSize(assumedSize: '));
  expect(others, 'lists without @listSize(assumedSize: …)').toEqual([]);
  expect(lists.find((list) => list.startsWith('signalCatalogue '))).toContain(`(assumedSize: ${signals.length})`);
});
