import { looksLikeWord, type Variable } from './values.ts';

/** Values that the documentation shows in place of the operator's own. They must never be used in live mode. */

/** Placeholders of older versions of the documentation. */
const FORMER = new Set(['pk_1', 'sk_1', 'key_1', '0123456789abcdef0123456789abcdef']);

/** A sentence for each placeholder in the text of a variable. None shows the text. */
export function placeholdersIn({ name, secret, isAddress }: Variable, text: string): string[] {
  const sentence = (own: string) => `${name}: expected ${own}, but got the placeholder of the documentation.`;
  if (isAddress) return isPlaceholderAddress(text) ? [sentence('an address of your own')] : [];
  const isPlaceholder = secret ? isPlaceholderSecret : isPlaceholderAddress;
  return textsIn(text)
    .filter((found) => isPlaceholder(found.text))
    .map(({ path }) => sentence(path === '' ? 'a secret of your own' : `a value of your own at ${path}`));
}

function isPlaceholderSecret(text: string): boolean {
  return /^change[-_ ]?me/i.test(text) || /^<.*>$/s.test(text) || FORMER.has(text);
}

/** No host under `.example` will ever exist (RFC 2606, section 2). */
function isPlaceholderAddress(text: string): boolean {
  return URL.canParse(text) && /(^|\.)example\.?$/.test(new URL(text).hostname);
}

interface FoundText {
  /** From the top of the value, such as `0.secret`; empty if the whole value is one text. */
  readonly path: string;
  readonly text: string;
}

/** Every text within a JSON value. If it is not JSON, the texts between its commas. */
function textsIn(text: string): FoundText[] {
  try {
    return within(JSON.parse(text), '');
  } catch {
    const texts = text.split(',').map((part) => part.trim());
    return texts.map((part, index) => ({ path: texts.length > 1 ? String(index) : '', text: part }));
  }
}

function within(value: unknown, path: string): FoundText[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const step = Array.isArray(value) || looksLikeWord(key) ? key : '(unknown key)';
    return within(inner, path === '' ? step : `${path}.${step}`);
  });
}
