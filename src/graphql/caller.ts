import type { QueryDeviceFingerprintArgs } from '../schema.generated.ts';

/** What is known about the person or the request of a question. */
export type DeviceMetadata = NonNullable<QueryDeviceFingerprintArgs['metadata']>;

/** A documented key of the metadata. */
export type MetadataKey = Exclude<keyof DeviceMetadata, 'additional'>;

/** Who sent a GraphQL request, and what this caller may see. */
export interface Caller {
  /** `router`, the name of a service of SERVICES, or `anyone` if no secret is configured. */
  readonly name: string;
  /** The person on whose behalf the caller asks, from the trusted header; undefined without one. */
  readonly subject: string | undefined;
  /** Undefined if scopes are not enforced. */
  readonly scopes: ReadonlySet<string> | undefined;
  /** Completes the metadata of a question by what trusted headers say. Undefined if no header is configured for it. */
  readonly completeMetadata?: ((given: DeviceMetadata | null | undefined) => DeviceMetadata) | undefined;
}

/** May this caller see what has the tag `risk` in the SDL? */
export function maySeeRisk({ scopes }: Caller): boolean {
  return scopes === undefined || scopes.has('risk:read');
}
