import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import { type DocumentNode, Kind, parse, visit } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { documentOf } from '../../src/graphql/schema.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { SLICES } from '../../src/slices.ts';
import { readMetrics } from '../observability/exposition.ts';
import { sdlOf } from '../supergraph/compose.ts';
import { readSubgraphs } from '../supergraph/public-schema.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';

/** With one service alone, nothing of the other one is there. */

const sandbox = await startSandbox({ port: 0 });
const startAlone = (service: string) => {
  const others = SLICES.filter(({ name }) => name !== service);
  const without = Object.fromEntries(others.map(({ accounts }) => [accounts, []]));
  return startInLiveMode(sandbox.urls, { ...without, logLevel: 'debug' });
};
const apps = { fingerprint: await startAlone('fingerprint'), captcha: await startAlone('captcha') };
afterAll(() => Promise.all([...Object.values(apps).map(({ stop }) => stop()), sandbox.stop()]));

const DEVICE = { query: FINGERPRINT_QUERY, variables: { token: 'sandbox:android' } };
const CAPTCHA = { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } };
const REFERENCE = {
  query: '{ _entities(representations: [{ __typename: "DeviceJudgement", sealed: "x" }]) { __typename } }',
  variables: {},
};

describe.each([
  {
    name: 'fingerprint',
    app: apps.fingerprint,
    imports: '["@cost", "@inaccessible", "@key", "@listSize", "@tag"]',
    present: DEVICE,
    absent: [CAPTCHA],
    others: /captcha|attestation/i,
  },
  {
    name: 'captcha',
    app: apps.captcha,
    imports: '["@cost"]',
    present: CAPTCHA,
    absent: [DEVICE, REFERENCE],
    others:
      /fingerprint|device_?token|signal|judgement|decision|policy|metadata|catalogue|reports_|DateTime|JSONObject/i,
  },
] as const)('$name alone', ({ app, imports, present, absent, others }) => {
  test('one service alone is ready and answers', async () => {
    expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
    const { errors, data } = await ask(app.graphqlUrl, present.query, present.variables);
    expect([errors, Object.values(data)]).toEqual([
      undefined,
      [expect.objectContaining({ __typename: expect.any(String) })],
    ]);
  });

  test('one service alone has no type, field, scalar or directive of the other in its schema', async () => {
    const sdl = await sdlOf(app.graphqlUrl);
    expect(sdl.match(/import: (\[.*?\])/)?.[1]).toBe(imports);
    const names: string[] = [];
    visit(parse(sdl), { Name: ({ value }) => void names.push(value) });
    expect(names.filter((name) => others.test(name) && !name.startsWith('federation__'))).toEqual([]);
  });

  test('one service alone answers a document for the other with the ordinary error of validation', async () => {
    for (const { query, variables } of absent) {
      const { status, errors } = await ask(app.graphqlUrl, query, variables);
      expect([status, errors?.[0]?.extensions]).toEqual([400, { code: 'GRAPHQL_VALIDATION_FAILED', retryable: false }]);
    }
  });

  test('one service alone has neither metrics nor lines of the other', async () => {
    const { families, samples } = await readMetrics(app);
    const words = [...families.keys(), ...samples.flatMap(({ labels }) => Object.values(labels))];
    expect(words.filter((word) => others.test(word))).toEqual([]);
    // A client may name any operation and any field.
    const lines = app
      .logged()
      .split('\n')
      .filter((line) => !line.includes('"msg":"operation"'));
    expect(lines.filter((line) => others.test(line))).toEqual([]);
  });
});

test('captchas alone leave the keys of attestations to whoever configures them, and devices alone have none', async () => {
  expect((await fetch(`${apps.fingerprint.url}/.well-known/jwks.json`)).status).toBe(404);
});

const [, ...neighbours] = readSubgraphs();
const withNeighbours = (names: readonly string[], change = (document: DocumentNode) => document) => [
  { name: 'device-trust', url: 'http://x', typeDefs: documentOf(SLICES.filter(({ name }) => names.includes(name))) },
  ...neighbours.map((one) => ({ ...one, typeDefs: change(one.typeDefs) })),
];
type Services = ReturnType<typeof withNeighbours>;
const COMPOSERS: Record<string, (services: Services) => readonly { message: string }[]> = {
  '@apollo/composition': (services) => apollo.composeServices(services).errors ?? [],
  '@theguild/federation-composition': (services) => guild.composeServices(services).errors ?? [],
};
/** Leaves out the device types, and the fields that return them. */
const withoutDevices = (document: DocumentNode) => {
  const isDevice = (name: string) => /^(DeviceFingerprint|DeviceJudgement|FingerprintDevice)$/.test(name);
  return visit(document, {
    ObjectTypeDefinition: ({ name }) => (isDevice(name.value) ? null : undefined),
    FieldDefinition: ({ type }) => (type.kind === Kind.NAMED_TYPE && isDevice(type.name.value) ? null : undefined),
  });
};

test.each(Object.entries(COMPOSERS))(
  'a graph of one service composes with the users and orders of the example: %s',
  (_name, complaintsOf) => {
    expect(complaintsOf(withNeighbours(['fingerprint', 'captcha']))).toEqual([]);
    expect(complaintsOf(withNeighbours(['fingerprint']))).toEqual([]);
    // What refers to a device needs the service that knows it.
    expect(complaintsOf(withNeighbours(['captcha']))[0]?.message).toContain('"DeviceFingerprint"');
    expect(complaintsOf(withNeighbours(['captcha'], withoutDevices))).toEqual([]);
  },
);
