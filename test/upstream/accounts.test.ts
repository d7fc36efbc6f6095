import { expect, test } from 'vitest';
import { Accounts } from '../../src/upstream/accounts.ts';

/** Which account serves a request. */

interface Account {
  readonly id: string;
  readonly secret: string;
}

const A = { id: 'a', secret: 'old' };
const B = { id: 'b', secret: 'old' };
const accountsOf = (...accounts: Account[]) => new Accounts(({ id }: Account) => id, accounts);

test('an account is found by its id', () => {
  const accounts = accountsOf(A, B);
  expect(accounts.find('a')).toBe(A);
  expect(accounts.find('b')).toBe(B);
});

test.each([null, undefined])('without an id (%s) the first account serves', (id) => {
  const accounts = accountsOf(B, A);
  expect(accounts.find(id)).toBe(B);
  expect(accounts.default).toBe(B);
});

test.each(['', 'c', '__proto__'])('an unknown id has no account, not even the first one: %j', (id) => {
  expect(accountsOf(A, B).find(id)).toBeUndefined();
});

test('without accounts there is no default', () => {
  const accounts = accountsOf();
  expect([accounts.default, accounts.find(null)]).toEqual([undefined, undefined]);
});

test('a rotation replaces every account, and what was found before stays as it is', () => {
  const accounts = accountsOf(A, B);
  const found = accounts.find('b');
  accounts.replace([{ id: 'b', secret: 'new' }]);
  expect(accounts.find('b')).toEqual({ id: 'b', secret: 'new' });
  expect(accounts.default).toEqual({ id: 'b', secret: 'new' });
  expect(accounts.find('a')).toBeUndefined();
  expect(found).toEqual({ id: 'b', secret: 'old' });
});
