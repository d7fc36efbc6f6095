import { isObjectType, parse, TypeInfo, validate, visit, visitWithTypeInfo } from 'graphql';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { loggerOptions } from '../../src/observability/logger.ts';
import { requestsOf } from '../../src/warm-up/requests.ts';
import { warmUp } from '../../src/warm-up/warm-up.ts';
import { DEFAULTS } from '../support/app.ts';

/** What the warm-up asks: everything. And what it leaves behind in a process, whether it succeeds or not: nothing. */

// A document that no longer fits the schema would warm up nothing, and nobody would notice.
test('every document is valid but the one that is not meant to be, and every field of the schema is asked for', () => {
  const schema = buildSchema();
  const requests = requestsOf(0, { sealed: 's', challenge: {}, attests: true });
  const documents = [...new Set(requests.map(({ query }) => query))].map((query) => parse(query));
  const valid = documents.filter((document) => validate(schema, document).length === 0);
  expect(documents.length - valid.length).toBe(1);

  const asked = new Set<string>();
  const types = new TypeInfo(schema);
  const Field = () => {
    const [parent, field] = [types.getParentType(), types.getFieldDef()];
    const implementations =
      parent && 'getInterfaces' in parent && !isObjectType(parent) ? schema.getPossibleTypes(parent) : [];
    for (const type of [parent, ...implementations]) asked.add(`${type}.${field?.name}`);
  };
  for (const document of valid) visit(document, visitWithTypeInfo(types, { Field }));
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type))
    .flatMap((type) => Object.keys(type.getFields()).map((name) => `${type}.${name}`));
  expect(fields).toContain('DeviceFingerprint.signals');
  expect(fields.filter((field) => !field.startsWith('__') && !asked.has(field))).toEqual([]);
});

const opened = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Pipe/.test(kind)).length;
const FAILED = 'warn: the warm-up failed; the first requests may be slow';

test.each([
  ['that succeeds logs nothing', {}, []],
  // An address for documentation (RFC 5737), which no machine has.
  ['that cannot listen logs it', { host: '192.0.2.1' }, [FAILED]],
  ['that takes too long logs it', { limitMs: 0 }, [FAILED]],
])('a warm-up %s, and closes every socket', async (_what, options, expected) => {
  const before = opened();
  const lines: string[] = [];
  await warmUp(DEFAULTS, pino(loggerOptions(), { write: (line: string) => lines.push(line) }), options);
  expect(lines.map((line) => JSON.parse(line)).map(({ level, msg }) => `${level}: ${msg}`)).toEqual(expected);
  await expect.poll(opened).toBe(before);
});
