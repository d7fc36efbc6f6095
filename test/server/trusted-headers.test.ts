import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { identifierOf, requesterOf } from '../../src/callers/identity.ts';
import { clientAddressOf, createMetadataReader, type TrustedHeaders } from '../../src/callers/trusted-headers.ts';
import { withTrusted } from '../../src/fingerprint/request.ts';
import { DEFAULTS } from '../support/app.ts';
import { callerAt, callerOf, startServerOfCallers } from './support.ts';

/** The headers in which a trusted caller names a person and an address: whose count, and with which values. */

const ROUTER = 'the-secret-of-the-router';
const HEADERS = { trustedHeaders: { subject: 'x-user-id', scopes: 'x-user-scopes' } };
const PERSON = { 'x-user-id': 'person-17', 'x-user-scopes': 'openid risk:read' };

const server = await startServerOfCallers({ routerSecrets: [ROUTER], ...HEADERS });
const sandbox = await startServerOfCallers({ trustsLoopback: true, ...HEADERS });
const open = await startServerOfCallers(HEADERS);
afterAll(() => Promise.all([server, sandbox, open].map(({ stop }) => stop())));

test('a trusted header without a secret is believed in the sandbox alone', async () => {
  const scopes = ['openid', 'risk:read'];
  expect(await callerAt(sandbox.graphqlUrl, PERSON)).toEqual({ name: 'anyone', subject: 'person-17', scopes });
  expect(await callerAt(sandbox.graphqlUrl, {})).toEqual({ name: 'anyone', scopes: [] });
  expect(await callerAt(open.graphqlUrl, PERSON)).toEqual({ name: 'anyone', scopes: [] });
});

const trustedHeaders = { ...HEADERS.trustedHeaders, metadata: { ipAddr: { header: 'x-client-ip' } } };
const identifyIn = identifierOf({ ...DEFAULTS, trustedHeaders }, true);
/** Who sends this request from this address. No test can have a peer on another machine, so the socket only has its address. */
function identify(remoteAddress: string | undefined) {
  const request = new IncomingMessage(Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress }));
  request.rawHeaders.push(...Object.entries(PERSON).flat(), 'x-client-ip', '203.0.113.7');
  return identifyIn(request);
}
/** What becomes of the argument of a client that says where it is. */
const metadataFrom = (address: string | undefined) =>
  withTrusted({ ipAddrV6: '2001:db8::bad' }, identify(address)?.metadata ?? []).metadata;

const LOOPBACK = '127.0.0.1 127.0.0.2 127.255.255.254 ::1 ::ffff:127.0.0.1 ::FFFF:127.8.0.1';
const ELSEWHERE =
  '192.0.2.7 10.0.0.1 128.0.0.1 12.7.0.0 ::ffff:192.0.2.127 :: ::2 2001:db8::1 2001:db8::ffff:127.0.0.1 fe80::1 fd00::127.0.0.1 127.0.0.1.example';

test.each([
  ...LOOPBACK.split(' ').map((address) => [address, 'is'] as const),
  ...[...ELSEWHERE.split(' '), undefined].map((address) => [address, 'is not'] as const),
])('a trusted header without a secret in the sandbox from %s %s believed', (address, is) => {
  const [subject, ipAddrV4] = is === 'is' ? ['person-17', '203.0.113.7'] : [undefined, null];
  expect(identify(address)).toMatchObject({ name: 'anyone', subject });
  expect(identify(address)?.scopes?.size).toBe(subject ? 2 : 0);
  expect(metadataFrom(address)).toEqual({ ipAddrV4, ipAddrV6: null });
});

const subjectOf = async (lines: readonly string[]) =>
  (await callerOf(server.graphqlUrl, [`router-authorization: ${ROUTER}`, ...lines])).subject;
const scopesOf = async (lines: readonly string[]) =>
  (await callerOf(server.graphqlUrl, [`router-authorization: ${ROUTER}`, ...lines])).scopes;

test.each<[string, readonly string[], string | undefined]>([
  ['in any case', ['X-USER-ID: person-17'], 'person-17'],
  ['with spaces inside', ['x-user-id:   cn=a person, ou=people  '], 'cn=a person, ou=people'],
  ['of 256 characters', [`x-user-id: ${'p'.repeat(256)}`], 'p'.repeat(256)],
  ['of 257 characters', [`x-user-id: ${'p'.repeat(257)}`], undefined],
  ['that is empty', ['x-user-id:'], undefined],
  ['that is blank', ['x-user-id:    '], undefined],
  ['with a tab', ['x-user-id: person\t17'], undefined],
  ['beyond ASCII', ['x-user-id: pers\u00f6n'], undefined],
  ['that is repeated', ['x-user-id: person-17', 'x-user-id: person-18'], undefined],
  ['that is repeated with the same value', ['x-user-id: person-17', 'X-User-ID: person-17'], undefined],
  ['that is sent three times', ['x-user-id: a', 'x-user-id: b', 'x-user-id: c'], undefined],
  ['beside an empty one', ['x-user-id: person-17', 'x-user-id:'], undefined],
  ['with another name', ['x_user_id: person-17', 'x-user-idd: person-17', 'x-user: person-17'], undefined],
])('the subject of a trusted header %s', async (_what, lines, subject) => {
  expect(await subjectOf(lines)).toBe(subject);
});

test.each<[string, readonly string[], readonly string[]]>([
  ['one scope', ['x-user-scopes: risk:read'], ['risk:read']],
  ['a space, with which Cosmo Router overwrites a header', ['x-user-scopes:  '], []],
  ['one scope twice', ['x-user-scopes: risk:read risk:read'], ['risk:read']],
  ['scopes with two spaces', ['x-user-scopes: openid  risk:read'], []],
  ['scopes with commas, which are one scope', ['x-user-scopes: openid,risk:read'], ['openid,risk:read']],
  ['a scope in quotes', ['x-user-scopes: "risk:read"'], []],
  ['a scope with a backslash', ['x-user-scopes: risk\\:read'], []],
  ['scopes with a tab', ['x-user-scopes: openid\trisk:read'], []],
  ['scopes that are repeated', ['x-user-scopes: risk:read', 'x-user-scopes: risk:read'], []],
  ['too many scopes', [`x-user-scopes: ${'openid '.repeat(40)}risk:read`], []],
])('a trusted header with %s', async (_what, lines, scopes) => {
  expect(await scopesOf(lines)).toEqual(scopes);
});

const v4 = (ipAddrV4: string) => ({ ipAddrV4 });
const v6 = (ipAddrV6: string) => ({ ipAddrV6 });
const LIST = '198.51.100.1, 203.0.113.7:80 ,[2001:db8::1]:443,\t192.0.2.9';

test.each([
  ['203.0.113.7', v4('203.0.113.7')],
  ['203.0.113.7:46532', v4('203.0.113.7')],
  ['0.0.0.0', v4('0.0.0.0')],
  ['255.255.255.255:65535', v4('255.255.255.255')],
  ['2001:db8::1', v6('2001:db8::1')],
  ['[2001:db8::1]', v6('2001:db8::1')],
  ['[2001:db8::1]:46532', v6('2001:db8::1')],
  // It could end in a port, or not: without `port` it does not.
  ['2001:db8::1:4653', v6('2001:db8::1:4653')],
  ['2001:0DB8:0000:0000:0000:0000:0000:0001', v6('2001:db8::1')],
  ['::', v6('::')],
  ['::ffff:203.0.113.7', v4('203.0.113.7')],
  ['::FFFF:cb00:7107', v4('203.0.113.7')],
  ['[::ffff:203.0.113.7]:80', v4('203.0.113.7')],
  ['0:0:0:0:0:ffff:203.0.113.7', v4('203.0.113.7')],
  ['::ffff:0:0', v4('0.0.0.0')],
  // RFC 6052, and the deprecated IPv4-compatible form of RFC 4291: neither is mapped.
  ['64:ff9b::203.0.113.7', v6('64:ff9b::cb00:7107')],
  ['::203.0.113.7', v6('::cb00:7107')],
])('the client address %s', (text, expected) => {
  expect(clientAddressOf(text, {})).toEqual(expected);
});

const MALFORMED = [
  ...['', ' ', '203.0.113.7 ', '203.0.113.7, 203.0.113.8', `203.0.113.7${' '.repeat(60)}`, '２０３.0.113.7'],
  ...'unknown _hidden localhost 203.0.113 203.0.113.256 203.0.113.07 0xcb.0.113.7 3405803783'.split(' '),
  ...'203.0.113.7: 203.0.113.7:65536 203.0.113.7:-1 203.0.113.7:80:80 203.0.113.7/32'.split(' '),
  ...'[203.0.113.7] [203.0.113.7]:80 "203.0.113.7" for=203.0.113.7 ::ffff:203.0.113.256'.split(' '),
  ...'2001:db8::1::2 2001:db8::12345 2001:db8::1:46532 [2001:db8::1 2001:db8::1] [2001:db8::1]:'.split(' '),
  ...'[2001:db8::1]:65536 [2001:db8::1]80 [[2001:db8::1]] fe80::1%eth0 [fe80::1%25eth0]:80'.split(' '),
];
test.each(MALFORMED)('the client address %j is malformed', (text) => {
  expect(clientAddressOf(text, {})).toBeUndefined();
});

test.each([
  ['203.0.113.7:46532', { port: true }, v4('203.0.113.7')],
  ['2001:db8::1:46532', { port: true }, v6('2001:db8::1')],
  ['2001:db8::1:4653', { port: true }, v6('2001:db8::1')],
  ['2001:db8:0:0:0:0:0:1:80', { port: true }, v6('2001:db8::1')],
  ['[2001:db8::1]:80', { port: true }, v6('2001:db8::1')],
  ['::ffff:203.0.113.7:80', { port: true }, v4('203.0.113.7')],
  ['203.0.113.7', { port: true }, undefined],
  ['[2001:db8::1]', { port: true }, undefined],
  ['2001:db8::1:65536', { port: true }, undefined],
  ['2001:db8:1:2:3:4:5:6', { port: true }, undefined],
  // A list counts from the right.
  [LIST, { hops: 1 }, v4('192.0.2.9')],
  [LIST, { hops: 2 }, v6('2001:db8::1')],
  [LIST, { hops: 3 }, v4('203.0.113.7')],
  [LIST, { hops: 4 }, v4('198.51.100.1')],
  [LIST, { hops: 5 }, undefined],
  ['', { hops: 1 }, undefined],
  [',', { hops: 1 }, undefined],
  ['203.0.113.7,', { hops: 1 }, undefined],
  ['203.0.113.7,,192.0.2.9', { hops: 2 }, undefined],
  ['203.0.113.7, unknown', { hops: 1 }, undefined],
])(
  'the client address %j with %j, of a list after that many hops, or if a port always follows',
  (text, how, expected) => {
    expect(clientAddressOf(text, how)).toEqual(expected);
  },
);

test('addresses on several lines are one list (RFC 9110, section 5.3)', () => {
  const request = new IncomingMessage(new Socket());
  request.rawHeaders.push('X-Forwarded-For', '198.51.100.1', 'x-forwarded-for', '203.0.113.7');
  const read = createMetadataReader({ ipAddr: { header: 'x-forwarded-for', hops: 2 } });
  expect(read(request)).toMatchObject([{ found: v4('198.51.100.1') }]);
});

test('a list of addresses: whatever a client sends cannot change what the proxies have appended', () => {
  const appended = fc.array(fc.ipV4(), { minLength: 1, maxLength: 16 });
  const sent = fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom(',', ',,,', '::1', '"', 'x'.repeat(9_000)));
  fc.assert(
    fc.property(sent, appended, (client, proxies) => {
      const hops = proxies.length;
      expect(clientAddressOf([client, ...proxies].join(', '), { hops })).toEqual(v4(proxies[0] ?? ''));
    }),
  );
});

const ADDRESS = { metadata: { ipAddr: { header: 'x-client-ip' } } };
const ANY_TEXT = { metadata: { ipAddrV6: { header: 'x-client-ip' } } };
const requesterAt = (address: string, headers: TrustedHeaders) => {
  const request = new IncomingMessage(new Socket());
  if (address) request.rawHeaders.push('x-client-ip', address);
  const metadata = createMetadataReader(headers.metadata ?? {})(request);
  return requesterOf({ subject: undefined, metadata }, headers);
};

test.each([
  // The shortest form of one address has its zeros before the fourth group, and that of the other behind it.
  ['2001:0:0:1ff:1:2:3:4', '2001:0:0:100::1', '2001:0:0:200::1', ADDRESS],
  ['2001:DB8::101:0:0:0:1', '2001:0db8:0:17f:5:6:7:8', '2001:db8:0:200::1', ANY_TEXT],
])(
  'a requester without the header of a person is a network, of IPv6 its /56: %s is with %s, and not with %s',
  (one, same, other, headers) => {
    const [first, second, third] = [one, same, other].map((address) => requesterAt(address, headers));
    expect(first).toMatchObject({ kind: 'network' });
    expect(second).toEqual(first);
    expect(third).not.toEqual(first);
  },
);

test.each<[string, TrustedHeaders, string]>([
  ['203.0.113.1, 203.0.113.9', ADDRESS, 'anonymous'],
  ['203.0.113.1', { metadata: { ipAddr: { header: 'x-client-ip', hops: 2 } } }, 'anonymous'],
  ['bot-1', ANY_TEXT, 'anonymous'],
  ['', ADDRESS, 'anonymous'],
  ['', { subject: 'x-user-id' }, 'anonymous'],
  ['', { scopes: 'x-user-scopes' }, 'untracked'],
])('a requester with the address %j in %j is %s', (address, headers, kind) => {
  expect(requesterAt(address, headers)).toEqual({ kind, id: '' });
});

const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
const port = fc.integer({ min: 0, max: 65_535 });

test('an address of IPv6 gives one text, however it is written', () => {
  fc.assert(
    fc.property(groups, port, (numbers, number) => {
      const short = numbers.map((each) => each.toString(16)).join(':');
      const long = numbers.map((each) => each.toString(16).padStart(4, '0').toUpperCase()).join(':');
      const expected = clientAddressOf(short, {});
      expect(expected).toBeDefined();
      // Reading what was read changes nothing.
      for (const text of [long, `[${short}]`, `[${long}]:${number}`, Object.values(expected ?? {}).join()]) {
        expect(clientAddressOf(text, {})).toEqual(expected);
      }
      for (const text of [`${long}:${number}`, `[${short}]:${number}`]) {
        expect(clientAddressOf(text, { port: true })).toEqual(expected);
      }
    }),
  );
});

test('the search for an address fails for no text', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'0123456789abcdefg:.[]%, ') }), fc.ipV6());
  const someHops = fc.option(fc.integer({ min: 1, max: 16 }), { nil: undefined });
  fc.assert(
    fc.property(text, someHops, fc.boolean(), (it, hops, has) => {
      const found = clientAddressOf(it, { hops, port: has });
      const [key, value] = Object.entries(found ?? {})[0] ?? [];
      if (found) expect(value).toMatch(key === 'ipAddrV4' ? /^(\d{1,3}\.){3}\d{1,3}$/ : /^[\da-f:]+$/);
    }),
  );
});
