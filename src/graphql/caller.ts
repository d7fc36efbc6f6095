import { Kind } from 'graphql';
import type { Holder } from '../runtime/shares.ts';
import type { DeviceMetadataInput } from '../schema.generated.ts';
import { typeDefs } from './type-defs.ts';

/** The caller of a request: the router or a service, and the person behind it. */
export interface Caller extends Holder {
  /** The person behind the request; undefined if no trusted header names one. */
  readonly subject: string | undefined;
  /** Undefined if scopes are not enforced. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** The client, as trusted headers describe it. Empty if no header is configured for it. */
  readonly metadata: TrustedMetadata;
  /** The requester whose share of a limit counts. */
  readonly requester: Requester;
}

/** `anonymous`: the header that names the requester is missing; `untracked`: no such header is configured. */
export interface Requester {
  readonly kind: 'person' | 'network' | 'anonymous' | 'untracked';
  /** Distinguishes the requesters of one kind; empty for `anonymous` and `untracked`. */
  readonly id: string;
}

export type MetadataKey = Exclude<keyof DeviceMetadataInput, 'additional'>;

/** The keys of the client's description in trusted headers: all fields of the schema's input but the one for any further key. */
export const TRUSTED_KEYS = typeDefs('fingerprint.graphql')
  .definitions.filter((type) => type.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION)
  .filter(({ name }) => name.value === 'DeviceMetadataInput')
  .flatMap(({ fields = [] }) => fields.map(({ name }) => name.value))
  // Safe: the type is generated from this input.
  .filter((key): key is MetadataKey => key !== 'additional');

export function forTrustedKeys<Value>(makeValue: (key: MetadataKey) => Value): Record<MetadataKey, Value> {
  // Safe: Object.fromEntries forgets the names of the keys.
  return Object.fromEntries(TRUSTED_KEYS.map((key) => [key, makeValue(key)])) as Record<MetadataKey, Value>;
}

/** The client as trusted headers describe it: an entry for each configured header. */
export type TrustedMetadata = readonly {
  readonly keys: readonly MetadataKey[];
  /** Undefined if the header is absent or malformed. */
  readonly found: Partial<Record<MetadataKey, string>> | undefined;
  /** May an argument stand in for a header that is absent? Otherwise the header alone counts. */
  readonly isReplaceable: boolean;
}[];
