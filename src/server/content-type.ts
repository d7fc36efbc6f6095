import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';

/** The media types of a GraphQL response, in Apollo Server's order of preference. */
const OFFERED = [
  'application/json; charset=utf-8',
  'application/graphql-response+json; charset=utf-8',
  'application/json; callbackSpec=1.0; charset=utf-8',
];
const [JSON_TYPE] = OFFERED;

/**
 * Parsing a header of 16 KB takes 7 ms, and Apollo Server does it twice. A longer header than this, in characters, is left to
 * Apollo Server alone; browsers send some 200.
 */
const MAX_LENGTH = 500;

/** Parsing a header that names several types takes 18 µs, and callers send few different ones. */
const negotiated = new LRUCache<string, string>({ max: 100 });

/**
 * The content type of a GraphQL response for a request with this `Accept` header, by the rules that Apollo Server follows.
 * Undefined if the client accepts none of ours, or if the header is too long: Apollo Server answers then.
 */
export function negotiateContentType(accept: string | undefined): string | undefined {
  if (!accept || accept === '*/*' || accept === 'application/json') return JSON_TYPE;
  if (accept.length > MAX_LENGTH) return undefined;
  const known = negotiated.get(accept);
  if (known !== undefined) return known;
  const type = new Negotiator({ headers: { accept } }).mediaType(OFFERED);
  if (type !== undefined) negotiated.set(accept, type);
  return type;
}
