import { Lexer, Source, TokenKind } from 'graphql';
import { DeviceTrustError } from '../errors.ts';

/** Lexical tokens, at which the parser ends. Everything about a device has some 300. */
export const MAX_TOKENS = 2_000;
/** graphql-js counts the lines before each place that an error names, so the time for errors grows with the lines. */
const MAX_BYTES = 65_536;
const MAX_LINES = 2_000;
const LINE_END = /\r\n|[\n\r]/;
/** graphql-js compares fragments in pairs, and some hundreds overflow its stack. */
const MAX_FRAGMENTS = 50;
/** It compares fields of equal names in pairs, and keeps 350 bytes for each two that conflict before it reports the first. */
const MAX_REPEATS = 150;
/** Names are repeated for each object in answers and in traces, and for each field in compiled code. */
const MAX_NAME_LENGTH = 256;

/** Why a document must not be parsed; undefined if it may. */
export function documentViolation(source: string): DeviceTrustError | undefined {
  if (Buffer.byteLength(source) > MAX_BYTES || exceeds(source, LINE_END, MAX_LINES - 1)) {
    const message = `The document has more than 64 KiB or ${MAX_LINES} lines.`;
    return new DeviceTrustError('GRAPHQL_PARSE_FAILED', { message });
  }
  const names = namesIn(source);
  if ([...names].some(([name, count]) => name.length > MAX_NAME_LENGTH || count > MAX_REPEATS)) {
    const message = `The document has a name of more than ${MAX_NAME_LENGTH} characters, or selects one more than ${MAX_REPEATS} times.`;
    return new DeviceTrustError('GRAPHQL_PARSE_FAILED', { message });
  }
  if ((names.get('fragment') ?? 0) <= MAX_FRAGMENTS) return undefined;
  const message = `The document has more than ${MAX_FRAGMENTS} fragments.`;
  return new DeviceTrustError('GRAPHQL_VALIDATION_FAILED', { message });
}

/** How often each name stands in a selection, where one behind a colon has an alias. Others, such as those of arguments, count 0. */
function namesIn(source: string): Map<string, number> {
  const names = new Map<string, number>();
  const lexer = new Lexer(new Source(source));
  let parentheses = 0;
  try {
    for (let left = MAX_TOKENS; left > 0 && lexer.advance().kind !== TokenKind.EOF; left -= 1) {
      const { kind, value, prev } = lexer.token;
      if (kind === TokenKind.PAREN_L) parentheses += 1;
      else if (kind === TokenKind.PAREN_R) parentheses -= 1;
      const isSelected = parentheses === 0 && prev?.kind !== TokenKind.COLON;
      if (kind === TokenKind.NAME) names.set(value, (names.get(value) ?? 0) + Number(isSelected));
    }
  } catch {
    // Not a document. The parser comes to the same place, and says where it is.
  }
  return names;
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
