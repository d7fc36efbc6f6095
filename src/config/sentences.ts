/** What is wrong with a variable, in the one form that all such sentences have. */
export function expectedBut(name: string, expected: string, got: string): string {
  return `${name}: expected ${expected}, but got ${got}.`;
}
