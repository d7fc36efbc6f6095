import { globSync } from 'node:fs';
import { join } from 'node:path';
import {
  getNamedType,
  graphqlSync,
  isCompositeType,
  isEnumType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import { ROOT } from '../support/process.ts';
import { DOCUMENTS, SCHEMA, startOutcomes } from './outcomes.ts';

/**
 * `schema/fixtures` has an answer for every outcome, for tests without this subgraph. A change fails here by name. An intended
 * change is recorded with `npm run contract`.
 */

interface Fixture {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

const FOLDER = join(ROOT, 'schema/fixtures');

/** What differs from answer to answer, or proves something. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  eventId: 'evt_0193f5a0-0000-7000-8000-000000000000',
  judgedAt: '2026-03-01T08:30:00.000Z',
  lotNumber: '0123456789abcdef0123456789abcdef',
  attestation: 'an-attestation',
  sealed: 'a-sealed-judgement',
};

const withPlaceholders = (text: string): Fixture =>
  JSON.parse(text, (key, value) => {
    // A position in the document that was sent here, so of no use to a reader.
    if (key === 'locations') return undefined;
    return typeof value === 'string' ? (PLACEHOLDERS[key] ?? value) : value;
  });

const { outcomes, stop } = await startOutcomes();
afterAll(stop);
/** One after the other: some change what the next one finds. */
const fixtures: (readonly [name: string, status: number, body: Fixture])[] = [];
for (const [name, ask] of outcomes) {
  const { status, text } = await ask();
  fixtures.push([name, status, withPlaceholders(text)]);
}

/** The answers without `data` (schema/README.md). That to a persisted query has 200 as well. */
const STATUSES: Readonly<Record<string, number>> = {
  'error-overloaded': 503,
  'error-unauthenticated': 401,
  'error-bad-request': 400,
  'error-graphql-parse-failed': 400,
  'error-graphql-validation-failed': 400,
  'error-operation-resolution-failure': 400,
};

/**
 * `_service` is for routers, the token is not selected, a rejected captcha proves nothing, and a record is null only below a wrong
 * argument.
 */
const NEVER = [
  'Query._service',
  'DeviceFingerprint.token',
  'DeviceJudgement.device: null',
  'DeviceJudgement.ipInfo: null',
  'DeviceJudgement.signals: null',
  'CaptchaFailed.attestation',
  '_Service.sdl',
  '_Service.sdl: null',
];

test.each(fixtures)('%s.json is what the subgraph answers, with the status %i', async (name, status, body) => {
  expect(status).toBe(STATUSES[name] ?? 200);
  await expect(`${JSON.stringify(body, undefined, 2)}\n`).toMatchFileSnapshot(join(FOLDER, `${name}.json`));
});

test('the fixtures are these files and no others', () => {
  const names = new Set(fixtures.map(([name]) => `${name}.json`));
  expect(globSync('*', { cwd: FOLDER }).filter((path) => !names.has(path))).toEqual([]);
});

const answers = fixtures.flatMap(([, , { data }]) => (data ? [data] : []));

test('the fixtures fit the schema: graphql-js completes each one unchanged', () => {
  const input = { lotNumber: '', captchaOutput: '', passToken: '', genTime: '' };
  const variableValues = { token: '', representations: [], input };
  for (const data of answers) {
    const source = DOCUMENTS[Object.keys(data).join()] ?? '';
    const completed = graphqlSync({ schema: SCHEMA, source, rootValue: data, variableValues });
    expect(JSON.parse(JSON.stringify(completed))).toEqual({ data });
  }
});

const types = Object.values(SCHEMA.getTypeMap()).filter((type) => !isIntrospectionType(type));
/** Each coordinate of the schema in an answer, such as `Signal.code`, with `: null` where it is null. */
const seen = new Set<string>();
const visit = (type: string, value: object) => {
  const named = SCHEMA.getType(type);
  for (const [name, field] of Object.entries(isObjectType(named) ? named.getFields() : {})) {
    const inner = getNamedType(field.type);
    for (const one of [Object(value)[name]].flat()) {
      if (one === undefined) continue;
      seen.add(`${type}.${name}${one === null ? ': null' : ''}`);
      if (isEnumType(inner)) seen.add(`${inner.name}.${one}`);
      else if (one !== null && isCompositeType(inner)) visit(one.__typename, one);
    }
  }
};
for (const data of answers) visit('validateCaptcha' in data ? 'Mutation' : 'Query', data);

test('the fixtures have every value of an enum, and every field with a value and, where it is nullable, with null', () => {
  const coordinates = types.flatMap((type) => {
    if (isEnumType(type)) return type.getValues().map(({ name }) => `${type.name}.${name}`);
    return Object.values(isObjectType(type) ? type.getFields() : {}).flatMap((field) => {
      const name = `${type.name}.${field.name}`;
      return isNonNullType(field.type) ? [name] : [name, `${name}: null`];
    });
  });
  expect(coordinates.filter((one) => !seen.has(one))).toEqual(NEVER);
});

test('the fixtures have every code of an error, except that of a request whose client is gone', () => {
  const codes = fixtures.flatMap(([, , { errors = [] }]) => errors.map(({ extensions }) => extensions.code));
  const expected = Object.keys(ERROR_CATALOGUE).filter((code) => code !== 'CANCELLED');
  expect([...new Set(codes)].sort()).toEqual(expected.sort());
});
