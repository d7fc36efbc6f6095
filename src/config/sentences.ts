/** The sentence about a variable that is wrong. All such sentences have this form. */
export function expectedBut(name: string, expected: string, got: string): string {
  return `${name}: expected ${expected}, but got ${got}.`;
}
