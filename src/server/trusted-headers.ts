import type { IncomingMessage } from 'node:http';
import type { MetadataHeaders } from './metadata-headers.ts';
import { singleHeader, textOf } from './single-header.ts';

/** Which headers of a trusted caller carry what. The names are in lower case. */
export interface TrustedHeaders {
  /** The person on whose behalf the caller asks. */
  readonly subject?: string | undefined;
  /** What this person may see: scopes that are separated by single spaces. */
  readonly scopes?: string | undefined;
  /** What is known about the client of a question. */
  readonly metadata?: MetadataHeaders | undefined;
}

/** The longest value that is read, in characters. */
const MAX_LENGTH = 256;

/** A list of scopes (RFC 6749, section 3.3). */
const SCOPES = /^[!#-[\]-~]+(?: [!#-[\]-~]+)*$/;

/** The person of this header. Undefined if the header is absent, repeated or malformed. */
export function subjectOf(request: IncomingMessage, header: string): string | undefined {
  return textOf(request, header, MAX_LENGTH);
}

/** The scopes of this header. Undefined if the header is absent, repeated or malformed. */
export function scopesOf(request: IncomingMessage, header: string): ReadonlySet<string> | undefined {
  const value = singleHeader(request, header);
  if (value === undefined || value.length > MAX_LENGTH || !SCOPES.test(value)) return undefined;
  return new Set(value.split(' '));
}
