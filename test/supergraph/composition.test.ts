import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import { parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { sdlOf } from './compose.ts';
import { ORDERS_AUDIENCE, startOrders } from './orders.ts';
import { startUsers } from './users.ts';

/** What a platform team does with our schema: fetch it as a router does, and compose it with the neighbours'. */

const nobody = 'http://127.0.0.1:9';
const app = await startInLiveMode({ GLB: nobody, NA: nobody, EU: nobody });
const attestation = { jwksUrl: nobody, issuer: nobody, ...ORDERS_AUDIENCE };
const neighbours = { users: await startUsers(), orders: await startOrders({ attestation }) };
afterAll(() => Promise.all([app.stop(), neighbours.users.stop(), neighbours.orders.stop()]));

const urls = { 'device-trust': app.graphqlUrl, users: neighbours.users.url, orders: neighbours.orders.url };
const subgraphs = await Promise.all(
  Object.entries(urls).map(async ([name, url]) => ({ name, url, typeDefs: parse(await sdlOf(url)) })),
);

describe('composition with the user and order subgraphs', () => {
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
