/** What is asked. Requests are numbered, and no two numbers share a token. */
export interface Workload {
  readonly title: string;
  /** Connections of the load generator, each with one request under way. */
  readonly connections: number;
  /** The request with this number, as JSON. */
  readonly body: (number: number) => string;
  /** The status of its answer; 200 without it. */
  readonly status?: number;
  /** The `data` of its answer. */
  readonly data: (number: number) => unknown;
  /** The codes of its `errors`; none without it. */
  readonly errors?: readonly string[];
  /** What no one can predict in `data`: text that matches it is compared as three dots. */
  readonly unpredictable?: RegExp;
  /** Requests before anything is measured; as many as fit the time of warming up without it. */
  readonly primeRequests?: number;
}

/** Our server takes 512 upstream calls at once: four requests of 100 calls stay below that, and keep one core busy. */
export const FEW = 4;
export const MANY = 16;

/** Writes requests with this document. */
export function requestOf(query: string): (variables: Readonly<Record<string, unknown>>) => string {
  const head = `{"query":${JSON.stringify(query)},"variables":`;
  return (variables) => `${head}${JSON.stringify(variables)}}`;
}
