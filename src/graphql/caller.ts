/** Who sent a GraphQL request, and what this caller may see. */
export interface Caller {
  /** `router`, the name of a service of SERVICES, or `anyone` if no secret is configured. */
  readonly name: string;
  /** The person on whose behalf the caller asks, from the trusted header; undefined without one. */
  readonly subject: string | undefined;
  /** Undefined if scopes are not enforced. */
  readonly scopes: ReadonlySet<string> | undefined;
}

/** May this caller see what has the tag `risk` in the SDL? */
export function maySeeRisk({ scopes }: Caller): boolean {
  return scopes === undefined || scopes.has('risk:read');
}
