/** Device tokens of the benchmark. Their first word says what the upstream answers. All of one kind are equally long. */

export type TokenKind = 'judged' | 'slow' | 'rejected';

/** How long the upstream takes over a slow token, in ms. */
export const SLOW_MS = 5;

/** The number of a token or a challenge as it stands in questions and answers: always 12 digits. */
export function digits(number: number): string {
  return String(number).padStart(12, '0');
}

export function token(number: number, kind: TokenKind = 'judged'): string {
  return `${kind}-${digits(number)}`;
}

/** The serial number of a captcha challenge: 32 characters. */
export function lotNumber(number: number): string {
  return `5bd58ee1c0a44f6e9d37${digits(number)}`;
}
