import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { schemaOf } from '../../src/graphql/schema.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { SLICES } from '../../src/slices.ts';
import { ALERTS } from '../deploy/monitoring.ts';
import { ROOT } from '../support/process.ts';

/** The steps of adding an upstream that no other test asks for. */

const schema = schemaOf(SLICES);
/** The fields of `Query` and `Mutation`, each with its directives. Federation's own begin with `_`. */
const FIELDS = [schema.getQueryType(), schema.getMutationType()]
  .flatMap((type) => Object.values(type?.getFields() ?? {}))
  .filter(({ name }) => !name.startsWith('_'))
  .map(({ name, astNode }) => ({ name, directives: astNode?.directives?.map((one) => one.name.value) ?? [] }));

describe.each(SLICES)('the slice $name', ({ name, accounts }) => {
  test('a slice has accounts that the sandbox refuses, and that may come from a file', () => {
    expect(VARIABLES[accounts]).toMatchObject({ live: true, secret: true });
  });

  test('a slice gets its accounts from a file in Kubernetes and on a VM', () => {
    for (const file of ['kubernetes/deployment.yaml', 'vm/device-trust@.service'])
      expect(readFileSync(join(ROOT, 'deploy', file), 'utf8')).toContain(`${VARIABLES[accounts].name}_FILE`);
  });

  test('a slice is in the alert about a service that judges nothing', () => {
    expect(ALERTS.find(({ alert }) => alert === 'DeviceTrustJudgesNothing')?.expr).toContain(`"${name}"`);
  });
});

test('a root field has a cost, and an alert for its failure if it calls a service', () => {
  expect(FIELDS.filter(({ directives }) => !/cost|listSize/.test(directives.join()))).toEqual([]);
  const called = FIELDS.filter(({ directives }) => directives.includes('cost')).map((field) => field.name);
  const lists = ALERTS.flatMap(({ expr }) => [...expr.matchAll(/field=~"([^"]*)"/g)].map(([, list = '']) => list));
  expect(lists).not.toEqual([]);
  for (const list of lists) expect(list.split('|').sort()).toEqual([...called, '_entities'].sort());
});

test.each([
  'router/apollo-router.yaml',
  'router/cosmo.yaml',
  'router/hive-gateway.ts',
  'router/hive-router.yaml',
  'vm/nginx.conf',
])('deploy/%s waits longer than the deadlines of all services together', (file) => {
  const text = readFileSync(join(ROOT, 'deploy', file), 'utf8');
  const [, names = '', ms = '', s = ''] =
    text.match(/(?:Longer than|Above the sum of) (\w+_TIMEOUT_MS.*)\n.*?(?:\b(\d+_\d{3})|\b(\d+)s)\b/) ?? [];
  const timeouts = Object.values(VARIABLES).filter(
    (row) =>
      SLICES.some(({ variables }) => Object.values<object>(variables).includes(row)) &&
      row.name.endsWith('_TIMEOUT_MS'),
  );
  expect(names.match(/\w+_TIMEOUT_MS/g)?.sort()).toEqual(timeouts.map((row) => row.name).sort());
  const sum = timeouts.reduce((total, row) => total + Number('default' in row ? row.default : 0), 0);
  expect(Number(ms.replace('_', '')) || Number(s) * 1_000).toBeGreaterThan(sum);
});
