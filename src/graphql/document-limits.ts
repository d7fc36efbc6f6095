import { Lexer, Source, TokenKind } from 'graphql';
import { DeviceTrustError, type ErrorCode } from '../errors.ts';

/** Lexical tokens, at which the parser ends. A selection of all fields has some 300. */
export const MAX_TOKENS = 2_000;
/** graphql-js counts the lines before each place that an error names, so the time for errors grows with the lines. */
const MAX_BYTES = 65_536;
const MAX_LINES = 2_000;
const LINE_END = /\r\n|[\n\r]/;
/** graphql-js compares fragments in pairs, and some hundreds overflow its stack. */
const MAX_FRAGMENTS = 50;
/** Names are repeated for each object in answers and in traces, and for each field in compiled code. */
const MAX_NAME_LENGTH = 256;
const LONG_WORD = new RegExp(`\\w{${MAX_NAME_LENGTH + 1}}`);

/** Why a document must not be parsed; undefined if it may. The word `fragment` counts in its strings as well. */
export function documentViolation(source: string): DeviceTrustError | undefined {
  const violation = (code: ErrorCode, flaw: string) =>
    new DeviceTrustError(code, { message: `The document has ${flaw}.` });
  if (Buffer.byteLength(source) > MAX_BYTES || exceeds(source, LINE_END, MAX_LINES - 1))
    return violation('GRAPHQL_PARSE_FAILED', `more than 64 KiB or ${MAX_LINES} lines`);
  if (hasLongName(source))
    return violation('GRAPHQL_PARSE_FAILED', `a name of more than ${MAX_NAME_LENGTH} characters`);
  if (exceeds(source, /\bfragment\b/, MAX_FRAGMENTS))
    return violation('GRAPHQL_VALIDATION_FAILED', `more than ${MAX_FRAGMENTS} fragments`);
  return undefined;
}

/** Is a name longer than it may be? A text in the document may: it can be an argument. */
function hasLongName(source: string): boolean {
  if (!LONG_WORD.test(source)) return false;
  const lexer = new Lexer(new Source(source));
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance())
      if (token.kind === TokenKind.NAME && token.value.length > MAX_NAME_LENGTH) return true;
  } catch {
    // Not a document. The parser comes to the same place, and says where it is.
  }
  return false;
}

/** The most memory of a parsed token, in bytes. Its location is kept for errors. */
const BYTES_PER_TOKEN = 480;

/** The memory of a parsed document, in bytes. */
export function estimateParsedBytes(source: string): number {
  return Math.min(source.match(/\w+|[^\s\w]/g)?.length ?? 0, MAX_TOKENS) * BYTES_PER_TOKEN;
}

/** Is this in the text more often? The second argument of `split` ends the search at the first one too many. */
function exceeds(text: string, mark: RegExp, most: number): boolean {
  return text.split(mark, most + 2).length > most + 1;
}
