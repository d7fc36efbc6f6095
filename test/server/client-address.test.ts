import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddressOf } from '../../src/server/trusted-headers.ts';

/** The client's address in a header: with and without a port, of either kind, and in lists of proxies. */

const v4 = (ipAddrV4: string) => ({ ipAddrV4 });
const v6 = (ipAddrV6: string) => ({ ipAddrV6 });

describe('one address', () => {
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
  ])('%s', (text, expected) => {
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
  test.each(MALFORMED)('%j is malformed', (text) => {
    expect(clientAddressOf(text, {})).toBeUndefined();
  });

  test.each([
    ['203.0.113.7:46532', v4('203.0.113.7')],
    ['2001:db8::1:46532', v6('2001:db8::1')],
    ['2001:db8::1:4653', v6('2001:db8::1')],
    ['2001:db8:0:0:0:0:0:1:80', v6('2001:db8::1')],
    ['[2001:db8::1]:80', v6('2001:db8::1')],
    ['::ffff:203.0.113.7:80', v4('203.0.113.7')],
    ['203.0.113.7', undefined],
    ['[2001:db8::1]', undefined],
    ['2001:db8::1:65536', undefined],
    ['2001:db8:1:2:3:4:5:6', undefined],
  ])('%s, if a port always follows', (text, expected) => {
    expect(clientAddressOf(text, { port: true })).toEqual(expected);
  });
});

describe('a list, counted from the right', () => {
  const LIST = '198.51.100.1, 203.0.113.7:80 ,[2001:db8::1]:443,\t192.0.2.9';
  test.each([
    [LIST, 1, v4('192.0.2.9')],
    [LIST, 2, v6('2001:db8::1')],
    [LIST, 3, v4('203.0.113.7')],
    [LIST, 4, v4('198.51.100.1')],
    [LIST, 5, undefined],
    ['', 1, undefined],
    [',', 1, undefined],
    ['203.0.113.7,', 1, undefined],
    ['203.0.113.7,,192.0.2.9', 2, undefined],
    ['203.0.113.7, unknown', 1, undefined],
  ])('%j after %i hops', (list, hops, expected) => {
    expect(clientAddressOf(list, { hops })).toEqual(expected);
  });

  test('whatever a client sends cannot change what the proxies have appended', () => {
    const appended = fc.array(fc.ipV4(), { minLength: 1, maxLength: 16 });
    const sent = fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom(',', ',,,', '::1', '"', 'x'.repeat(9_000)));
    fc.assert(
      fc.property(sent, appended, (client, proxies) => {
        const hops = proxies.length;
        expect(clientAddressOf([client, ...proxies].join(', '), { hops })).toEqual(v4(proxies[0] ?? ''));
      }),
    );
  });
});

describe('every address', () => {
  const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
  const port = fc.integer({ min: 0, max: 65_535 });

  test('of IPv6 gives one text, however it is written', () => {
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

  test('is found or not, and no text makes it fail', () => {
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
});
