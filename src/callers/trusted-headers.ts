import type { IncomingMessage } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import { DEVICE_METADATA_KEYS } from '../schema.generated.ts';
import type { CallerSettings, TrustedKey } from './settings.ts';

/** The client as trusted headers describe it: an entry for each configured header. */
export type TrustedMetadata = readonly {
  readonly keys: readonly TrustedKey[];
  /** Undefined if the header is absent or malformed. */
  readonly found: Partial<Record<TrustedKey, string>> | undefined;
  /** May an argument stand in for a header that is absent? Otherwise the header alone counts. */
  readonly isReplaceable: boolean;
}[];

/** The names of the trusted headers, in lower case, by their content. */
export type TrustedHeaders = NonNullable<CallerSettings['trustedHeaders']>;

type MetadataHeaders = NonNullable<TrustedHeaders['metadata']>;

/** The longest value of a person or of scopes, in characters. */
const MAX_LENGTH = 256;
/** The longest value of metadata, in characters. Few user agents have more than 500. */
const MAX_METADATA_LENGTH = 1_024;
/** The longest address, in characters: an IPv6 address that ends like an IPv4 one, brackets, and a port. */
const MAX_ADDRESS_LENGTH = 53;

/** Visible ASCII, with spaces inside: bytes beyond ASCII have no agreed encoding (RFC 9110, section 5.5). */
const TEXT = /^[!-~](?:[ -~]*[!-~])?$/;
/** A list of scopes (RFC 6749, section 3.3). */
const SCOPES = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/;
/** An IPv6 address in brackets or an IPv4 address, each with or without a port. */
const PERHAPS_WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\d.]+))(?::(\d{1,5}))?$/i;
/** An address of either kind, with or without brackets, and a port. */
const WITH_PORT = /^(?:\[([\da-f:.]+)\]|([\da-f:.]+)):(\d{1,5})$/i;
const MAX_PORT = 65_535;
/** An IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2), as a URL writes it. */
const MAPPED = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/;

export type RawHeaders = Pick<IncomingMessage, 'rawHeaders'>;

/** The values of a header, by its name in lower case. Raw, because Node joins some repeated headers and drops others. */
function linesOf({ rawHeaders }: RawHeaders, name: string): readonly string[] {
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index];
    if (found?.length === name.length && found.toLowerCase() === name) lines.push(rawHeaders[index + 1] ?? '');
  }
  return lines;
}

/** The value of a header that was sent once; undefined otherwise, or if `name` is undefined. */
export function singleHeader(request: RawHeaders, name: string | undefined): string | undefined {
  const lines = name === undefined ? [] : linesOf(request, name);
  return lines.length === 1 ? lines[0] : undefined;
}

/** The text in this header. Undefined if the header is absent, repeated, malformed or too long. */
export function textIn(request: RawHeaders, header: string | undefined, form = TEXT, maxLength = MAX_LENGTH) {
  const value = singleHeader(request, header);
  return value !== undefined && value.length <= maxLength && form.test(value) ? value : undefined;
}

/** The scopes in this header; none if it is absent or malformed. */
export function scopesIn(request: RawHeaders, header: string | undefined): ReadonlySet<string> {
  return new Set(textIn(request, header, SCOPES)?.split(' '));
}

/** The metadata in one header; undefined if it is absent or malformed. */
type Found = TrustedMetadata[number]['found'];

/** Reads the headers that describe the client of a request. */
export function createMetadataReader({ ipAddr, ...texts }: MetadataHeaders) {
  const sources = DEVICE_METADATA_KEYS.flatMap((key) => {
    const source = texts[key];
    if (!source) return [];
    const read = (request: RawHeaders): Found => {
      const text = textIn(request, source.header, TEXT, MAX_METADATA_LENGTH);
      return text === undefined ? undefined : { [key]: text };
    };
    return [{ keys: [key], isReplaceable: source.from === 'header-or-argument', read }];
  });
  if (ipAddr) {
    const { header, from } = ipAddr;
    // A list means the same on several lines (RFC 9110, section 5.3), and without `hops` any list is malformed.
    const read = (request: RawHeaders) => clientAddressOf(linesOf(request, header).join(), ipAddr);
    sources.push({ keys: ['ipAddrV4', 'ipAddrV6'], isReplaceable: from === 'header-or-argument', read });
  }
  return (request: RawHeaders): TrustedMetadata =>
    sources.map(({ keys, isReplaceable, read }) => ({ keys, isReplaceable, found: read(request) }));
}

/** The client's address without its port, in the form of RFC 5952, IPv4-mapped IPv6 as IPv4; undefined if malformed. */
export function clientAddressOf(
  text: string,
  { hops, port = false }: Pick<NonNullable<MetadataHeaders['ipAddr']>, 'hops' | 'port'>,
): Found {
  const entry = hops === undefined ? text : nthFromEnd(text, hops);
  if (entry === undefined || entry.length > MAX_ADDRESS_LENGTH) return undefined;
  // Without brackets, the end of an IPv6 address cannot be told from a port.
  if (!port && isIPv6(entry)) return fromIPv6(entry);
  const [, inBrackets, bare, digits = '0'] = (port ? WITH_PORT : PERHAPS_WITH_PORT).exec(entry) ?? [];
  if (Number(digits) > MAX_PORT) return undefined;
  if (inBrackets !== undefined) return fromIPv6(inBrackets);
  if (bare === undefined) return undefined;
  return isIPv4(bare) ? { ipAddrV4: bare } : fromIPv6(bare);
}

/** The nth entry of a list from its end. The client controls the earlier entries, so they are not checked. */
function nthFromEnd(list: string, position: number): string | undefined {
  const entries = list
    .split(',')
    .slice(-position)
    .map((entry) => entry.trim());
  return entries.length === position && !entries.includes('') ? entries[0] : undefined;
}

function fromIPv6(text: string): Found {
  // A zone has a meaning only on the machine that wrote it (RFC 4007, section 6).
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const value = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(value) ?? [];
  if (high === undefined || low === undefined) return { ipAddrV6: value };
  const bytes = [high, low].map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
  return { ipAddrV4: bytes.join('.') };
}
