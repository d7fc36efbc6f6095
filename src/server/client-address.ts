import { isIPv4, isIPv6 } from 'node:net';

/** The address of a client, as the metadata of a question has it. */
export interface ClientAddress {
  readonly key: 'ipAddrV4' | 'ipAddrV6';
  readonly value: string;
}

interface Form {
  /** How many trusted proxies have appended to the list in the header. Undefined for a header with one address. */
  readonly hops?: number | undefined;
  /** Is the address always followed by a port? */
  readonly port?: boolean | undefined;
}

/** The longest entry, in characters: an IPv6 address that ends like an IPv4 one, brackets, and a port. */
const MAX_LENGTH = 53;

/** An IPv6 address in brackets or an IPv4 address, each with or without a port. */
const PERHAPS_WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i;
/** An address of either kind, with or without brackets, and a port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\da-f:.]+)):(\d{1,5})$/i;
const MAX_PORT = 65_535;
/** An IPv4 address in IPv6 (RFC 4291, section 2.5.5.2), as a URL writes it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

/**
 * The client's address in the value of a header, without its port. An IPv4 address that is written as an IPv6 one becomes an
 * IPv4 one. Equal addresses give equal texts (RFC 5952). Undefined if the value is malformed.
 */
export function clientAddressOf(text: string, { hops, port = false }: Form): ClientAddress | undefined {
  const entry = hops === undefined ? text : fromTheRight(text, hops);
  if (entry === undefined || entry.length > MAX_LENGTH) return undefined;
  // Without brackets, what follows the last colon of an IPv6 address can be a part of it.
  if (!port && isIPv6(entry)) return fromIPv6(entry);
  const [, inBrackets, bare, digits = '0'] = (port ? WITH_PORT : PERHAPS_WITH_PORT).exec(entry) ?? [];
  if (Number(digits) > MAX_PORT) return undefined;
  if (inBrackets !== undefined) return fromIPv6(inBrackets);
  if (bare === undefined) return undefined;
  return isIPv4(bare) ? { key: 'ipAddrV4', value: bare } : fromIPv6(bare);
}

/**
 * An entry of a list, where 1 is the last one. Whatever stands left of it was written by the client, so nothing there can make
 * the header malformed.
 */
function fromTheRight(list: string, position: number): string | undefined {
  const appended = list
    .split(',')
    .slice(-position)
    .map((entry) => entry.trim());
  return appended.length === position && !appended.includes('') ? appended[0] : undefined;
}

function fromIPv6(text: string): ClientAddress | undefined {
  // A zone says nothing outside of the machine that wrote it (RFC 4007, section 6).
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const value = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(value) ?? [];
  if (high === undefined || low === undefined) return { key: 'ipAddrV6', value };
  const bytes = [high, low].map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
  return { key: 'ipAddrV4', value: bytes.join('.') };
}
