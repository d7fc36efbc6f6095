import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { fileAt, findLastRelease } from './last-release.ts';

/** Clients read in the changelog what they can ask now, and what not any more. */

const CONTRACT = 'test/graphql/contract.graphql';
const { commit, version, changes } = findLastRelease();
const schemaOf = (text: string) => buildSchema(text, { assumeValidSDL: true });

test('the changelog names whatever the schema has or lacks since the last release', async () => {
  const found = await diff(schemaOf(fileAt(commit, CONTRACT)), schemaOf(readFileSync(join(ROOT, CONTRACT), 'utf8')));
  const visible = found.filter(({ type }) => !/DESCRIPTION|DIRECTIVE/.test(type));
  const names = new Set(visible.map(({ path = '' }) => path.split('.').at(-1) ?? ''));
  const missing = [...names].filter((name) => !changes.includes(`\`${name}\``));
  expect(missing, `CHANGELOG.md does not name these changes of the schema since ${version}`).toEqual([]);
});
