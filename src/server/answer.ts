import type { FormattedExecutionResult } from 'graphql';
import { DeviceTrustError } from '../errors.ts';

/** Writes the results of operations as JSON, up to a limit. */
export interface AnswerWriter {
  /** The result as JSON, or the text of `tooLarge` if that would be larger than the limit. */
  write(result: FormattedExecutionResult): string;
  /** The answer in place of one that is too large. */
  readonly tooLarge: { readonly result: FormattedExecutionResult; readonly text: string };
}

/** UTF-8 takes at most three bytes for each UTF-16 unit of a text. */
const MAX_BYTES_PER_UNIT = 3;

/** A writer of answers of at most `maxBytes` in UTF-8. */
export function createAnswerWriter(maxBytes: number): AnswerWriter {
  const message = `The answer is larger than ${maxBytes} bytes. Ask for fewer fields or references in one request.`;
  const { extensions } = new DeviceTrustError('OVERLOADED', { message, side: 'caller' });
  const result = { errors: [{ message, extensions }], data: null };
  const tooLarge = { result, text: serialize(result) };

  function fits(text: string): boolean {
    if (text.length > maxBytes) return false;
    return text.length * MAX_BYTES_PER_UNIT <= maxBytes || Buffer.byteLength(text) <= maxBytes;
  }

  return {
    tooLarge,
    write: (given) => {
      const text = holdsMany(given.data) ? writeInPieces(given, maxBytes) : serialize(given);
      return text !== undefined && fits(text) ? text : tooLarge.text;
    },
  };
}

/** A result as JSON, with its errors first. */
export function serialize({ data, errors, extensions }: FormattedExecutionResult): string {
  return JSON.stringify({ errors, data, extensions });
}

type Data = FormattedExecutionResult['data'];

/** Up to so many fields or items are written at once, which is faster: each is what one response of an upstream became. */
const FEW = 20;

/** May the data be large? */
function holdsMany(data: Data): boolean {
  let fields = 0;
  for (const name in data) {
    fields += 1;
    const value = data[name];
    if (fields > FEW || (Array.isArray(value) && value.length > FEW)) return true;
  }
  return false;
}

/** The same text as that of `serialize`. Undefined as soon as it has more than `maxLength` UTF-16 units. */
function writeInPieces({ data, errors, extensions }: FormattedExecutionResult, maxLength: number): string | undefined {
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
    return length <= maxLength;
  };
  if (!add(errors ? `{"errors":${JSON.stringify(errors)},"data":{` : '{"data":{')) return undefined;
  for (const [at, [name, value]] of Object.entries(data ?? {}).entries()) {
    add(`${at > 0 ? ',' : ''}${JSON.stringify(name)}:`);
    if (!Array.isArray(value)) {
      if (!add(JSON.stringify(value))) return undefined;
      continue;
    }
    // Equal references have the same object in the list, which is written once.
    const texts = new Map<unknown, string>();
    add('[');
    for (const [index, item] of value.entries()) {
      const text = texts.get(item) ?? JSON.stringify(item);
      texts.set(item, text);
      if (!add(index > 0 ? `,${text}` : text)) return undefined;
    }
    add(']');
  }
  return add(extensions ? `},"extensions":${JSON.stringify(extensions)}}` : '}}') ? pieces.join('') : undefined;
}
