import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import { parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { ask } from '../support/graphql.ts';

/** What a platform team does with our schema: fetch it as a router does, and compose it with a neighbour's. */

const app = await startInLiveMode({ GLB: 'http://127.0.0.1:9', NA: 'http://127.0.0.1:9', EU: 'http://127.0.0.1:9' });
afterAll(() => app.stop());
const { data } = await ask(app.graphqlUrl, '{ _service { sdl } }');
const orders = readFileSync(join(import.meta.dirname, 'orders.graphql'), 'utf8');
const subgraphs = [
  { name: 'device-trust', url: app.graphqlUrl, typeDefs: parse(data._service.sdl) },
  { name: 'orders', url: 'http://127.0.0.1:9', typeDefs: parse(orders) },
];

describe('composition with the order subgraph', () => {
  test('by @apollo/composition: no error, no hint', () => {
    const { errors, hints, supergraphSdl } = apollo.composeServices(subgraphs);
    expect(errors).toBeUndefined();
    expect(hints?.map(({ message }) => message)).toEqual([]);
    expect(supergraphSdl).toContain('type DeviceFingerprint');
  });

  test('by @theguild/federation-composition: no error, and the token is not public', () => {
    const { errors, supergraphSdl, publicSdl } = guild.composeServices(subgraphs);
    expect(errors).toBeUndefined();
    expect(supergraphSdl).toContain('type DeviceFingerprint');
    expect(publicSdl).toMatch(/type DeviceFingerprint \{(?![^}]*\btoken:)[^}]*requestId/);
    expect(publicSdl).toMatch(/type Device \{[^}]*orders/);
  });
});
