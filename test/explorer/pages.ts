import { expect } from 'vitest';

/** What the pages for engineers open with. */

interface SandboxState {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Tab {
  readonly query: string;
  /** These are JSON. */
  readonly variables: string;
  readonly headers?: string;
}

export function readApolloSandbox(page: string): SandboxState {
  // Safe: what does not have this shape fails the expectations of whoever reads it.
  const { initialState } = jsonAfter(/new EmbeddedSandbox\(\{ \.\.\./, page) as { initialState: SandboxState };
  return initialState;
}

export function readGraphiql(page: string) {
  // Safe: as above.
  return jsonAfter(/querySelector\('#root'\),\s*/, page.slice(-20_000)) as Tab & {
    readonly endpoint: string;
    readonly defaultTabs: readonly Tab[];
  };
}

/** The JSON value that begins where the first match of `before` ends. */
function jsonAfter(before: RegExp, page: string): unknown {
  const { index, 0: match } = before.exec(page) ?? { index: 0, 0: '' };
  expect(match).not.toBe('');
  const rest = page.slice(index + match.length);
  const end = rest.indexOf('}');
  for (let to = end + 1; to > 0 && to < rest.length; to = rest.indexOf('}', to) + 1) {
    try {
      return JSON.parse(rest.slice(0, to));
    } catch {}
  }
  throw new Error('the page holds no JSON there');
}
