import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { afterAll, expect, test } from 'vitest';
import { sdlOf } from '../supergraph/compose.ts';
import { startRecorded } from './support.ts';

/**
 * The contract that others rely on is committed beside this test: the SDL as a router fetches it. A change
 * of the schema that breaks a client fails here by name. An intended change is recorded with `npm run contract`.
 */

const CONTRACT = join(import.meta.dirname, 'contract.graphql');

const { app, stop } = await startRecorded();
afterAll(stop);
const sdl = await sdlOf(app.graphqlUrl);

// Federation's own directives are not defined in it, and need not be.
const schemaOf = (text: string) => buildSchema(text, { assumeValidSDL: true });

/** Clients do not see these directives, but a neighbour's reference, and what the public graph shows, hang on them. */
const FEDERATED = /@(key|inaccessible)\b/;

/** What an existing client, or a neighbour in the supergraph, would stumble over. */
async function breaks(before: string, after: string): Promise<string[]> {
  const changes = await diff(schemaOf(before), schemaOf(after));
  return changes
    .filter(({ criticality: { level }, path = '' }) => {
      if (level === CriticalityLevel.Dangerous) return FEDERATED.test(path);
      // The definitions of federation's own directives come and go with what is imported.
      return level === CriticalityLevel.Breaking && !path.startsWith('@');
    })
    .map(({ message }) => message);
}

test('the contract: no change against the committed one breaks a client', async () => {
  expect(await breaks(readFileSync(CONTRACT, 'utf8'), sdl)).toEqual([]);
});

test('the committed contract is the one that is served; `npm run contract` records a change', async () => {
  await expect(`${sdl.trim()}\n`).toMatchFileSnapshot(CONTRACT);
});
