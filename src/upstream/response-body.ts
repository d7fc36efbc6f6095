import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { decodeUtf8, parseJson } from '../runtime/json.ts';

/** The body of a response, before anyone has checked whether it is as documented. */
export interface ResponseBody {
  /** The parsed body, without keys such as `__proto__`; undefined if it is not JSON in UTF-8. */
  readonly json: unknown;
  /**
   * What could be parsed of a body that is not JSON in UTF-8: with U+FFFD for each broken byte, without the text around
   * the first object, or without a compression that nobody asked for. A failure may be read from it, but never a success.
   */
  readonly lossyJson?: unknown;
  /** What is wrong with the body, for the log, where its fields would not show it. */
  readonly flaw?: string;
}

/** The longest body that is read, in bytes, also after decompression. No documented response is nearly as long. */
export const MAX_BODY_BYTES = 256 * 1024;

/** For the log: a body with a content-encoding. */
export const COMPRESSED = 'compressed body, though none was asked for';

/** Reads a body. One that is not JSON is no error here: the capability knows for which status JSON is documented. */
export function readBody(bytes: Buffer): ResponseBody {
  const text = decodeUtf8(bytes);
  const json = text === undefined ? undefined : parseJson(text);
  if (json !== undefined) return { json };
  const lossyJson = parseLossy(text ?? bytes.toString());
  return lossyJson === undefined ? { json } : { json, lossyJson };
}

/**
 * Reads a body that has a content-encoding, though we never ask for one, or that only claims to have it. Nothing but a
 * failure is read from it, because a bot may be able to influence whether a response is long enough to be compressed.
 *
 * @param encoding of `encodingOf`
 * @returns undefined if nothing can be read from it within the size limit
 */
export function readEncodedBody(bytes: Buffer, encoding: string): ResponseBody | undefined {
  const lossyJson = parseLossy((decompress(bytes, encoding) ?? bytes).toString());
  return lossyJson === undefined ? undefined : { json: undefined, lossyJson, flaw: COMPRESSED };
}

/** What a `content-encoding` does to the body, in lower case; undefined if it leaves the body as it is. */
export function encodingOf(header: string | string[]): string | undefined {
  const codings = String(header).toLowerCase().split(',');
  const others = codings.map((coding) => coding.trim()).filter((coding) => coding !== '' && coding !== 'identity');
  return others.length > 0 ? others.join() : undefined;
}

const DECOMPRESSORS: ReadonlyMap<string, typeof gunzipSync> = new Map([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
]);

/**
 * Undefined if this is not its encoding, or if more than the size limit comes out. A bomb ends there; brotli may first fill
 * its window of at most 16 MiB.
 */
function decompress(bytes: Buffer, encoding: string): Buffer | undefined {
  try {
    return DECOMPRESSORS.get(encoding)?.(bytes, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
    return undefined;
  }
}

function parseLossy(text: string): unknown {
  return parseJson(text) ?? parseFirstObject(text);
}

/** The first object in a text that is not JSON as a whole, such as JSONP or a page that a proxy has added to. */
function parseFirstObject(text: string): unknown {
  const start = text.indexOf('{');
  if (start < 0) return undefined;
  let depth = 0;
  let isInString = false;
  // A loop, because a regular expression needs quadratic time for a string that never ends.
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (isInString && character === '\\') at += 1;
    else if (character === '"') isInString = !isInString;
    else if (isInString) continue;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return parseJson(text.slice(start, at + 1));
  }
  return undefined;
}
