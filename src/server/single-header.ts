import type { IncomingMessage } from 'node:http';

/** Visible ASCII, with spaces inside: bytes beyond ASCII have no agreed encoding (RFC 9110, section 5.5). */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * The text of a header. Undefined if the header is absent, repeated, malformed or too long.
 *
 * @param name in lower case
 * @param maxLength in characters
 */
export function textOf(request: IncomingMessage, name: string, maxLength: number): string | undefined {
  const value = singleHeader(request, name);
  return value !== undefined && value.length <= maxLength && VALUE.test(value) ? value : undefined;
}

/**
 * The value of a header that was sent once; undefined otherwise. It reads the raw headers, because Node joins some repeated
 * headers and keeps only the first of others, and neither can be recognised afterwards.
 *
 * @param name in lower case
 */
export function singleHeader({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let value: string | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index];
    if (found?.length !== name.length || found.toLowerCase() !== name) continue;
    if (value !== undefined) return undefined;
    value = rawHeaders[index + 1];
  }
  return value;
}
