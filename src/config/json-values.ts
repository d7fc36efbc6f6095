import { z } from 'zod';
import { propertiesOf } from '../runtime/json.ts';
import { type Kind, matching, oneOf } from './values.ts';

/** A key of JSON is shown only if it looks like a word, perhaps mistyped: anything else could be a secret in the wrong place. */
export const looksLikeWord = (key: string) => /^[a-z_-]{1,24}$/i.test(key);

const NO_OBJECT = 'expected an object';

export const entryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `expected no unknown key${looksLikeWord(key) ? ` "${key}"` : ''}`).join(', ')
        : NO_OBJECT,
  });

export const parsed = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'it is not JSON' });
    return z.NEVER;
  }
});

/** A list of at least one entry. Entries must differ at each key of `ids`; checked even if an entry is invalid. */
export const listOf = <Entry extends z.ZodType>(entry: Entry, ...ids: readonly string[]) => {
  const differentAt = (id: string) =>
    z.refine<readonly unknown[]>(
      (list) => {
        const texts = list.map((item) => propertiesOf(item)[id]).filter((value) => typeof value === 'string');
        return new Set(texts).size === texts.length;
      },
      { error: `expected no two entries with the same ${id}`, when: ({ value }) => Array.isArray(value) },
    );
  return z
    .array(entry, { error: 'expected a list' })
    .min(1, { error: 'expected at least one entry' })
    .check(...ids.map(differentAt))
    .readonly();
};

export const number = (min: number, max: number) => {
  const error = `expected a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

export const truth = z.boolean({ error: 'expected true or false' });

/** A list of secrets; empty if the variable is not set. */
export const secretList = <List>(expected: string, list: z.ZodType<List>) =>
  ({ expected, schema: parsed.pipe(list), absent: [], secret: true }) as const satisfies Kind;

/** A text that can be a claim, a label of a metric, a member of a JWK set, or a header of a sealed judgement. */
export const identifier = matching('1 to 64 letters, digits, ".", "_", ":" or "-"', (id) => /^[\w.:-]{1,64}$/.test(id));

/** 32 bytes in 43 characters: the last character has two spare bits, which are zero. 32 equal bytes are not random. */
export const isKeyBytes = (text: string) =>
  /^[\w-]{42}[AEIMQUYcgkosw048]$/.test(text) && new Set(Buffer.from(text, 'base64url')).size > 1;
export const bytes = matching('32 random bytes as base64url', isKeyBytes);

/** A JWK of this shape. `alg`, `use`, `key_ops` (RFC 7517, section 4) and `ext` must fit if present. Other members are ignored. */
export function jwkOf<Shape extends z.ZodRawShape>(alg: string, use: string, uses: readonly string[], shape: Shape) {
  const error = `expected a list with ${uses.join(' and ')}`;
  const list = z.array(z.unknown(), { error }).refine((all) => uses.every((name) => all.includes(name)), error);
  const purpose = z.object({ alg: oneOf([alg]), use: oneOf([use]), key_ops: list, ext: truth }).partial();
  return z.object({ ...purpose.shape, ...shape }, { error: NO_OBJECT });
}
