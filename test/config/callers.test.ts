import { describe, expect, test } from 'vitest';
import documentedKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import { CANARY, parse, problemsOf, REST, SERVICE } from './support.ts';

/** The values that say who may ask. */

const ENV = { ...REST, ROUTER_SECRETS: 'secret-of-the-router' };
const SECRET = `${CANARY}-of-a-service`;

describe('SERVICES', () => {
  const EXPECTED =
    'a JSON list of at most 64 {"name", "secret", "scopes", "quota"}, with names of lowercase letters, digits and hyphens, and different secrets of 16 to 256 visible ASCII characters; the only scope is risk:read, and entries with the same name have the same scopes';
  const NAME = 'expected 1 to 64 lowercase letters, digits and hyphens, and neither router nor anyone';
  const SAME = 'expected the scopes of the first entry with this name';
  const SIZE = 'expected 16 to 256 visible ASCII characters';
  const second = (changes: object) => [SERVICE, { ...SERVICE, name: 'payments', secret: SECRET, ...changes }];
  const services = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `s${index}`, secret: `${SECRET}-${index}` }));

  test('SERVICES is a list of names, secrets and scopes, and a service without scopes has none', () => {
    const entries = [
      SERVICE,
      { name: '0-longest'.padEnd(64, 'x'), secret: 'x'.repeat(256) },
      { name: 'a', secret: 'x'.repeat(16) },
    ];
    const read = parse({ ...ENV, SERVICES: JSON.stringify(entries) }).services;
    expect(read).toEqual([SERVICE, { ...entries[1], scopes: [] }, { ...entries[2], scopes: [] }]);
    expect(parse({ ...ENV, SERVICES: JSON.stringify(services(64)) }).services).toHaveLength(64);
  });

  test('SERVICES has a name twice while its secret is rotated, with the same scopes in any order', () => {
    const entries = [
      { ...SERVICE, scopes: ['risk:read'] },
      { ...SERVICE, scopes: ['risk:read', 'risk:read'], secret: SECRET },
    ];
    expect(parse({ ...ENV, SERVICES: JSON.stringify(entries) }).services).toEqual(entries);
  });

  test.each<[string, unknown, string]>([
    ['an empty list', [], 'expected at least one entry'],
    ['65 entries', services(65), 'expected at most 64 entries'],
    ['no name', second({ name: undefined }), `1.name: ${NAME}, but it is missing`],
    ['the name of the router', second({ name: 'router' }), `1.name: ${NAME}`],
    ['the name of nobody in particular', second({ name: 'anyone' }), `1.name: ${NAME}`],
    ['a name with a line end', second({ name: 'orders\n' }), `1.name: ${NAME}`],
    ['a name of 65 characters', second({ name: 'x'.repeat(65) }), `1.name: ${NAME}`],
    ['a name with other scopes', second({ name: SERVICE.name, scopes: [] }), `1.scopes: ${SAME}`],
    ['more scopes later', Array.of({ ...SERVICE, scopes: [] }, { ...SERVICE, secret: SECRET }), `1.scopes: ${SAME}`],
    ['no secret', second({ secret: undefined }), `1.secret: ${SIZE}, but it is missing`],
    ['a secret of 15 characters', second({ secret: 'x'.repeat(15) }), `1.secret: ${SIZE}`],
    ['a secret with a space', second({ secret: `${SECRET} ${CANARY}` }), `1.secret: ${SIZE}`],
    ['a secret twice', second({ secret: SERVICE.secret }), 'expected no two entries with the same secret'],
    ['scopes as a text', second({ scopes: 'risk:read' }), '1.scopes: expected a list of scopes'],
    ['an unknown scope', second({ scopes: ['risk:read', 'risk:raed'] }), '1.scopes.1: expected risk:read'],
  ])('SERVICES refuses %s, without showing it', (_what, value, mistakes) => {
    expect(problemsOf({ ...ENV, SERVICES: JSON.stringify(value) })).toEqual([
      `SERVICES: expected ${EXPECTED}, but got a wrong value (${mistakes}).`,
    ]);
  });
});

describe('TRUSTED_HEADERS', () => {
  const EXPECTED =
    'JSON such as {"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}, with at least one of the three';
  const HEADER = 'expected the name of a header that is neither hop-by-hop, nor for credentials, nor Forwarded';
  const HOPS = 'metadata.ipAddr.hops: expected a whole number from 1 to 16';
  const ip = (changes: object) => ({ metadata: { ipAddr: { header: 'x-ip', ...changes } } });
  const ja4 = (changes: object) => ({ metadata: { ja4: { header: 'x-ja4', ...changes } } });
  const read = (value: unknown) => parse({ ...ENV, TRUSTED_HEADERS: JSON.stringify(value) }).trustedHeaders;

  test('TRUSTED_HEADERS names one header or both, and their case does not matter', () => {
    expect(read({ subject: 'X-User-Id', scopes: 'x-user-scopes' })).toEqual({
      subject: 'x-user-id',
      scopes: 'x-user-scopes',
    });
    expect(read({ subject: 'x-user-id' })).toEqual({ subject: 'x-user-id' });
    expect(parse(ENV).trustedHeaders).toBeUndefined();
  });

  test('TRUSTED_HEADERS can carry every documented key of the metadata, and an address of either kind', () => {
    const keys = documentedKeys.map(({ graphql }) => graphql);
    const metadata = Object.fromEntries(keys.map((key) => [key, { header: `x-${key}`, from: 'header-or-argument' }]));
    expect(Object.keys(read({ metadata })?.metadata ?? {}).sort()).toEqual([...keys].sort());
    const ipAddr = { header: 'X-Forwarded-For', hops: 2, port: true };
    expect(read({ metadata: { ipAddr } })).toEqual({ metadata: { ipAddr: { ...ipAddr, header: 'x-forwarded-for' } } });
  });

  test.each([
    ...'authorization Router-Authorization cookie proxy-authorization connection keep-alive'.split(' '),
    ...'proxy-authenticate te trailer transfer-encoding upgrade Forwarded'.split(' '),
    ...['x user', 'x-user:', 'x-üser', 'x-user\n', '', 'x'.repeat(65)],
  ])('TRUSTED_HEADERS refuses the header %j', (name) => {
    expect(problemsOf({ ...ENV, TRUSTED_HEADERS: JSON.stringify({ scopes: name }) })).toEqual([
      `TRUSTED_HEADERS: expected ${EXPECTED}, but got a wrong value (scopes: ${HEADER}).`,
    ]);
  });

  const X = { header: 'x-header' };
  const UNKNOWN = 'expected no unknown key';
  const EITHER = 'metadata: expected either ipAddr or ipAddrV4 and ipAddrV6';
  test.each<[string, unknown, string]>([
    ['no object', ['x-user-id'], 'expected an object'],
    ['nothing in it', {}, 'expected at least one header'],
    [
      'one header for both',
      { subject: 'X-User', scopes: 'x-user' },
      'expected different headers for subject and scopes',
    ],
    ['no metadata in it', { subject: 'x-user-id', metadata: {} }, 'metadata: expected at least one key'],
    ['metadata without a header', { metadata: { ipAddr: {} } }, `metadata.ipAddr.header: ${HEADER}, but it is missing`],
    ['the name alone', { metadata: { ja4: 'x-ja4' } }, 'metadata.ja4: expected an object'],
    ['a key of the wire', { metadata: { ja4: X, account_id: X } }, `metadata: ${UNKNOWN} "account_id"`],
    ['hops of a text', ja4({ hops: 1 }), `metadata.ja4: ${UNKNOWN} "hops"`],
    ['no hop', ip({ hops: 0 }), HOPS],
    ['half a hop', ip({ hops: 1.5 }), HOPS],
    ['a port that is no boolean', ip({ port: 1 }), 'metadata.ipAddr.port: expected true or false'],
    ['another source', ja4({ from: 'argument' }), 'metadata.ja4.from: expected header or header-or-argument'],
    ['an address of either kind beside one of one kind', { metadata: { ipAddr: X, ipAddrV6: X } }, EITHER],
  ])('TRUSTED_HEADERS refuses %s', (_what, value, mistakes) => {
    expect(problemsOf({ ...ENV, TRUSTED_HEADERS: JSON.stringify(value) })).toEqual([
      `TRUSTED_HEADERS: expected ${EXPECTED}, but got a wrong value (${mistakes}).`,
    ]);
  });
});
