/** So many, each made from its number. */
export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** The same as pieces of a GraphQL document. */
export const pieces = (count: number, make: (at: number) => string): string => times(count, make).join(' ');
