/** A request as data that can be changed a little: `request.ts` writes it as GraphQL, `mutate.ts` changes it. */
export interface Genome {
  readonly operation: 'query' | 'mutation';
  readonly roots: readonly Selection[];
  /** What the variable for entity references contains. */
  readonly references: { readonly count: number; readonly kinds: readonly ReferenceKind[]; readonly distinct: number };
  /** What the variable for free-form metadata contains: `breadth` keys at each of `depth` levels, with texts or lists. */
  readonly metadata: {
    readonly breadth: number;
    readonly depth: number;
    readonly length: number;
    readonly list: number;
    /** Are the levels lists instead of objects? */
    readonly isList: boolean;
  };
  /** The length of every other text, and what it is made of. */
  readonly text: { readonly length: number; readonly character: string };
  /** Where a value of that shape stands that nothing asks for. */
  readonly unasked: 'nowhere' | 'variables' | 'extensions';
  /** What a document may have between its tokens: so many pieces of it. */
  readonly padding: { readonly count: number; readonly piece: string };
  /** Operations of the document that are not executed. */
  readonly otherOperations: number;
  /** Is it sent so often that it is compiled, or new each time? */
  readonly isRepeated: boolean;
}

/** A selected field, as often as `copies` says. */
export interface Selection {
  /** The type that has the field; below a union or an interface it is selected with a fragment. */
  readonly type: string;
  readonly field: string;
  readonly copies: number;
  /** Has each copy a name of its own? Otherwise they are merged. */
  readonly isAliased: boolean;
  readonly via: 'field' | 'inline fragment' | 'fragment';
  readonly isConditional: boolean;
  /** Which of the values that fit each argument; an argument that may be absent has absence among them. */
  readonly values: Readonly<Record<string, number>>;
  readonly children: readonly Selection[];
}

/** What a reference is: an entity of a kind, or something that is none. */
export const REFERENCE_KINDS = ['phone', 'page', 'few', 'bad', 'sealed', 'forged', 'unknown', 'none'] as const;

export type ReferenceKind = (typeof REFERENCE_KINDS)[number];

export const CHARACTERS = ['x', '"', '\\', 'é', '😀', '\u0001'] as const;

export const PADDINGS = ['#\n', '# a comment of some length, as people write them\n', ',', ' ', '\n'] as const;

/** More than any limit of one request allows, and little enough to write. */
const MOST_TOKENS = 4_000;
const MOST_CHARACTERS = 1_000_000;

/** Is it worth writing down? The body of what is not would be too large, or its document too long, many times over. */
export function isWritable({ roots, metadata, references, padding, otherOperations }: Genome): boolean {
  const { breadth, depth, length, list } = metadata;
  const characters = (breadth + 1) * (depth + 1) * (length + 2 * list + 8) + padding.count * padding.piece.length;
  const tokens = roots.reduce((sum, root) => sum + tokensOf(root), 0) + 4 * otherOperations;
  return tokens <= MOST_TOKENS && characters + references.count * 20 <= MOST_CHARACTERS;
}

function tokensOf({ copies, children }: Selection): number {
  return copies * children.reduce((sum, child) => sum + tokensOf(child), 1);
}
