import packageJson from '../../package.json' with { type: 'json' };

/**
 * The headers of every request to a service: the same in calls and in probes, so that nothing can treat them differently. They tell
 * its operator who asks. Without an `Accept-Encoding` it could choose any coding (RFC 9110, 12.5.3), and none is decoded here.
 */
export const CLIENT_HEADERS = {
  'user-agent': `${packageJson.name}/${packageJson.version}`,
  'accept-encoding': 'identity',
};

/**
 * The configured accounts of one upstream service, by id. The first one is the default. A rotation of secrets replaces
 * all of them at once; a call under way keeps the account with which it began.
 */
export class Accounts<Account> {
  readonly #idOf: (account: Account) => string;
  #byId: ReadonlyMap<string, Account> = new Map();

  constructor(idOf: (account: Account) => string, accounts: readonly Account[]) {
    this.#idOf = idOf;
    this.replace(accounts);
  }

  /** The ids of all accounts, the default one first. */
  get ids(): string[] {
    return [...this.#byId.keys()];
  }

  /** The account with this id, without an id the default one; undefined if it is unknown, or if there is none. */
  find(id: string | null | undefined): Account | undefined {
    const [first] = this.#byId.values();
    return id == null ? first : this.#byId.get(id);
  }

  /** Something about each account, with its id, in the order of the configuration. */
  map<Result>(toResult: (account: Account) => Result): (readonly [id: string, Result])[] {
    return [...this.#byId].map(([id, account]) => [id, toResult(account)]);
  }

  replace(accounts: readonly Account[]): void {
    this.#byId = new Map(accounts.map((account) => [this.#idOf(account), account]));
  }
}
