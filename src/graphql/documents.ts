import { type DocumentNode, Kind, Lexer, Source, TokenKind } from 'graphql';
import { DeviceTrustError, type ErrorCode } from '../errors.ts';

/** The most lexical tokens that the parser reads. A selection of all fields has some 300. */
export const MAX_TOKENS = 2_000;
/** graphql-js counts the lines before each place that an error names, so the time for errors grows with the lines. */
const MAX_BYTES = 65_536;
const MAX_LINES = 2_000;
const LINE_END = /\r\n|[\n\r]/;
/** graphql-js compares fragments in pairs, and some hundreds overflow its stack. */
const MAX_FRAGMENTS = 50;
/** graphql-js also compares fields of the same name in pairs, and keeps an entry for each pair. */
const MAX_SAME_NAME = 200;
/** Names are repeated for each object in answers and in traces, and for each field in compiled code. */
const MAX_NAME_LENGTH = 256;

/** The reason why a document must not be parsed; undefined if it may be parsed. */
export function documentViolation(source: string): DeviceTrustError | undefined {
  const violation = (code: ErrorCode, flaw: string) =>
    new DeviceTrustError(code, { message: `The document has ${flaw}.` });
  if (Buffer.byteLength(source) > MAX_BYTES || source.split(LINE_END, MAX_LINES + 1).length > MAX_LINES)
    return violation('GRAPHQL_PARSE_FAILED', `more than 64 KiB or ${MAX_LINES} lines`);
  const { longestName, sameName, fragments } = countNames(source);
  if (longestName > MAX_NAME_LENGTH)
    return violation('GRAPHQL_PARSE_FAILED', `a name of more than ${MAX_NAME_LENGTH} characters`);
  if (sameName > MAX_SAME_NAME)
    return violation(
      'GRAPHQL_PARSE_FAILED',
      `an alias, or a field with arguments or fields, more than ${MAX_SAME_NAME} times`,
    );
  if (fragments > MAX_FRAGMENTS) return violation('GRAPHQL_VALIDATION_FAILED', `more than ${MAX_FRAGMENTS} fragments`);
  return undefined;
}

/** The tokens that follow an alias, or a field with arguments or fields. */
const MARKS: ReadonlySet<TokenKind> = new Set([TokenKind.COLON, TokenKind.PAREN_L, TokenKind.BRACE_L]);

function countNames(source: string) {
  const names = {
    longestName: 0,
    /** The uses of the most frequent name, among aliases and fields with arguments or fields. */
    sameName: 0,
    /** The uses of the name `fragment`. */
    fragments: 0,
  };
  /** The uses of each name as an alias or a field, and the names that can conflict. */
  const uses = new Map<string, number>();
  const ambiguous = new Set<string>();
  const lexer = new Lexer(new Source(source));
  let parentheses = 0;
  try {
    // Reads as many tokens as the parser.
    for (let left = MAX_TOKENS; left > 0 && lexer.advance().kind !== TokenKind.EOF; left -= 1) {
      const { kind, value } = lexer.token;
      // Unlike `prev`, `lastToken` is never a comment.
      const { lastToken } = lexer;
      if (parentheses === 0 && MARKS.has(kind)) ambiguous.add(lastToken.value);
      if (kind === TokenKind.PAREN_L) parentheses += 1;
      else if (kind === TokenKind.PAREN_R) parentheses -= 1;
      else if (kind === TokenKind.NAME) {
        names.longestName = Math.max(names.longestName, value.length);
        if (value === 'fragment') names.fragments += 1;
        if (parentheses === 0 && lastToken.kind !== TokenKind.COLON && lastToken.kind !== TokenKind.AT)
          uses.set(value, (uses.get(value) ?? 0) + 1);
      }
    }
  } catch {
    // Not a document: the parser reports the place.
  }
  for (const name of ambiguous) names.sameName = Math.max(names.sameName, uses.get(name) ?? 0);
  return names;
}

/** The most memory of a parsed token, in bytes. Its location is kept for errors. */
const BYTES_PER_TOKEN = 480;

/** The most memory of a document's tokens once it is parsed, in bytes. */
export function estimateParsedBytes(source: string): number {
  return Math.min(source.match(/\w+|[^\s\w]/g)?.length ?? 0, MAX_TOKENS) * BYTES_PER_TOKEN;
}

/** The most memory of an operation apart from its tokens and its texts. */
const BYTES_PER_OPERATION = 2_048;

/** The most memory that a parsed document takes, with all that is computed once for its operations. */
export function sizeOfDocument({ loc, definitions }: DocumentNode): number {
  const source = loc?.source.body ?? '';
  const operations = definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return estimateParsedBytes(source) + 2 * source.length + operations.length * BYTES_PER_OPERATION;
}
