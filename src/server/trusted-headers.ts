import type { IncomingMessage } from 'node:http';

/** Which headers of a trusted caller carry what. The names are in lower case. */
export interface TrustedHeaders {
  /** The person on whose behalf the caller asks. */
  readonly subject?: string | undefined;
  /** What this person may see: scopes that are separated by single spaces. */
  readonly scopes?: string | undefined;
}

/** The longest value that is read, in characters. */
const MAX_LENGTH = 256;

/** Visible ASCII, with spaces inside: bytes beyond ASCII have no agreed encoding (RFC 9110, section 5.5). */
const VALUE = /^[!-~](?:[ -~]*[!-~])?$/;
/** A list of scopes (RFC 6749, section 3.3). */
const SCOPES = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/;

/** The person of this header. Undefined if the header is absent, repeated or malformed. */
export function subjectOf(request: IncomingMessage, header: string): string | undefined {
  const value = singleHeader(request, header);
  return value !== undefined && value.length <= MAX_LENGTH && VALUE.test(value) ? value : undefined;
}

/** The scopes of this header. Undefined if the header is absent, repeated or malformed. */
export function scopesOf(request: IncomingMessage, header: string): ReadonlySet<string> | undefined {
  const value = singleHeader(request, header);
  if (value === undefined || value.length > MAX_LENGTH || !SCOPES.test(value)) return undefined;
  return new Set(value.split(' '));
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
