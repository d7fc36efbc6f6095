import {
  type FieldNode,
  isInterfaceType,
  isObjectType,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { requestsOf } from '../../src/warm-up/requests.ts';

/** The warm-up follows the schema. A document that no longer fits would warm up nothing, and nobody would notice. */

const schema = buildSchema();
const requests = requestsOf(0, { sealed: 's', challenge: {}, attests: true });
const documents = [...new Set(requests.map(({ query }) => query))].map((query) => parse(query));
const valid = documents.filter((document) => validate(schema, document).length === 0);

test('every document is valid but the one that is not meant to be', () => {
  expect(documents.length - valid.length).toBe(1);
});

test('every field of the schema is asked for', () => {
  const asked = new Set<string>();
  for (const document of valid) {
    const types = new TypeInfo(schema);
    const addField = ({ name }: FieldNode) => {
      const parent = types.getParentType();
      const implementations = isInterfaceType(parent) ? schema.getPossibleTypes(parent) : [];
      for (const type of [parent, ...implementations]) asked.add(`${type}.${name.value}`);
    };
    visit(document, visitWithTypeInfo(types, { Field: addField }));
  }
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type));
  const fields = types.flatMap((type) => Object.keys(type.getFields()).map((name) => `${type}.${name}`));
  expect(fields).toContain('DeviceFingerprint.signals');
  expect(fields.filter((field) => !field.startsWith('__') && !asked.has(field))).toEqual([]);
});
