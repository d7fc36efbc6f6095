import type { Asker } from '../captcha/fail-open-budget.ts';
import type { Caller } from '../graphql/context.ts';
import { clientAddressOf, type TrustedHeaders } from './trusted-headers.ts';

const [ANYBODY, NOBODY]: readonly [Asker, Asker] = [
  { kind: 'anybody', id: '' },
  { kind: 'nobody', id: '' },
];

/**
 * Prepares who asks, for the headers that are configured: the person; without one the network of the client's address; else nobody.
 * A person's address does not count beside the person: people share addresses, and accounts cost a bot more than addresses do.
 */
export function createAskerReader({
  subject: subjectHeader,
  metadata: { ipAddr, ipAddrV4, ipAddrV6 } = {},
}: TrustedHeaders): (caller: Pick<Caller, 'subject' | 'metadata'>) => Asker {
  const hasAddress = Boolean(ipAddr ?? ipAddrV4 ?? ipAddrV6);
  if (subjectHeader === undefined && !hasAddress) return () => ANYBODY;
  return (caller) => {
    if (caller.subject !== undefined) return { kind: 'person', id: caller.subject };
    const known = Object.assign({}, ...caller.metadata.map(({ found }) => found));
    const network = networkOf(known.ipAddrV4 ?? known.ipAddrV6 ?? '');
    return network === undefined ? NOBODY : { kind: 'network', id: network };
  };
}

/**
 * An IPv4 address, or the first 56 bits of an IPv6 address, which are what one household is given (RFC 6177). It is the same however the
 * address is written. Undefined for any other text: a header for `ipAddrV6` alone is passed on unchecked.
 */
function networkOf(address: string): string | undefined {
  const { ipAddrV4, ipAddrV6 } = clientAddressOf(address, {}) ?? {};
  if (ipAddrV6 === undefined) return ipAddrV4;
  const [before = [], after = []] = ipAddrV6.split('::').map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  const [first, second, third, fourth = ''] = [...before, ...zeros, ...after];
  return [first, second, third, fourth.padStart(4, '0').slice(0, 2)].join(':');
}
