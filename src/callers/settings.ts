import { z } from 'zod';
import { entryOf, listOf, number, parsed, secretList, truth } from '../config/json-values.ts';
import { flag, matching, oneOf, ownSecret, type Table, type Values } from '../config/values.ts';
import { DEVICE_METADATA_KEYS } from '../schema.generated.ts';
import { quotaLimits } from './limits.ts';
import type { Callers } from './shares.ts';

/** The names in the log and the metrics of callers other than services: the router, or anyone if no secret is configured. */
export const [ROUTER, ANYONE] = ['router', 'anyone'] as const;

/** If scopes are enforced, a service has those of its entry; any other caller has those of the trusted header, if any. */
export function areScopesEnforced({ trustedHeaders, services }: Pick<CallerSettings, 'trustedHeaders' | 'services'>) {
  return trustedHeaders?.scopes !== undefined || services.length > 0;
}

const ownSecrets = {
  expected: `a comma-separated list of 1 to 8 secrets, each of ${ownSecret.expected}`,
  schema: z
    .string()
    .transform((text): readonly string[] => text.split(',').map((secret) => secret.trim()))
    .pipe(z.array(ownSecret.schema).max(8, { error: 'expected at most 8 secrets' }).readonly()),
  absent: [],
  secret: true,
} as const;

const MAX_SERVICES = 64;
const serviceName = matching(
  `1 to 64 lowercase letters, digits and hyphens, and neither ${ROUTER} nor ${ANYONE}`,
  (text) => /^[a-z0-9-]{1,64}$/.test(text) && text !== ROUTER && text !== ANYONE,
);
/** The scope for everything with the tag `risk`. */
export const RISK_SCOPE = 'risk:read';
const SCOPES = [RISK_SCOPE] as const;
const scopes = z.array(oneOf(SCOPES), { error: 'expected a list of scopes' }).readonly().default([]);

/** Services that call without the router. While a secret is rotated, its service has two entries with the same name. */
const services = secretList(
  `a JSON list of at most ${MAX_SERVICES} {"name", "secret", "scopes", "quota"}, with names of lowercase letters, digits and hyphens, and different secrets of ${ownSecret.expected}; the only scope is ${SCOPES}, and entries with the same name have the same scopes`,
  listOf(entryOf({ name: serviceName, secret: ownSecret.schema, scopes, quota: quotaLimits.optional() }), 'secret')
    .refine((list) => list.length <= MAX_SERVICES, { error: `expected at most ${MAX_SERVICES} entries` })
    .superRefine((list, context) => {
      for (const [index, { name, scopes }] of list.entries()) {
        const first = list.find((other) => other.name === name)?.scopes ?? [];
        if (SCOPES.every((scope) => first.includes(scope) === scopes.includes(scope))) continue;
        const message = 'expected the scopes of the first entry with this name';
        context.addIssue({ code: 'custom', path: [index, 'scopes'], message });
      }
    }),
);

// Hop-by-hop headers (RFC 9110, section 7.6.1) are about a connection. `Forwarded` holds parameters (RFC 7239), so none of its
// values is an address or an id. The others hold credentials.
const UNTRUSTED =
  /^(authorization|forwarded|router-authorization|cookie|connection|keep-alive|proxy-(connection|authenticate|authorization)|te|trailer|transfer-encoding|upgrade)$/;
/** The name of a header (a token of RFC 9110, section 5.6.2), in lower case. */
const header = matching(
  'the name of a header that is neither hop-by-hop, nor for credentials, nor Forwarded',
  (text) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text) && !UNTRUSTED.test(text.toLowerCase()),
).transform((text) => text.toLowerCase());
const from = oneOf(['header', 'header-or-argument']).optional();
const metadatum = entryOf({ header, from }).optional();
export type TrustedKey = (typeof DEVICE_METADATA_KEYS)[number];
// Safe: Object.fromEntries forgets the names of the keys.
const texts = Object.fromEntries(DEVICE_METADATA_KEYS.map((key) => [key, metadatum])) as Record<
  TrustedKey,
  typeof metadatum
>;
/** The keys for an address: of either kind, or of one. */
export const ADDRESS_KEYS: readonly string[] = ['ipAddr', 'ipAddrV4', 'ipAddrV6'];
const metadata = entryOf({
  ipAddr: entryOf({ header, from, hops: number(1, 16).optional(), port: truth.optional() }).optional(),
  ...texts,
})
  .refine((headers) => Object.keys(headers).length > 0, { error: 'expected at least one key' })
  .refine(({ ipAddr, ipAddrV4, ipAddrV6 }) => !ipAddr || !(ipAddrV4 || ipAddrV6), {
    error: 'expected either ipAddr or ipAddrV4 and ipAddrV6',
  });
/** The headers with which a router or a service names the person and describes the client. */
const trustedHeaders = {
  expected:
    'JSON such as {"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}, with at least one of the three',
  schema: parsed
    .pipe(entryOf({ subject: header.optional(), scopes: header.optional(), metadata: metadata.optional() }))
    .refine((headers) => Object.keys(headers).length > 0, { error: 'expected at least one header' })
    .refine(({ subject, scopes }) => subject === undefined || subject !== scopes, {
      error: 'expected different headers for subject and scopes',
    }),
  isExplained: true,
} as const;

export const CALLER_VARIABLES = {
  routerSecrets: { name: 'ROUTER_SECRETS', ...ownSecrets },
  services: { name: 'SERVICES', ...services },
  trustedHeaders: { name: 'TRUSTED_HEADERS', ...trustedHeaders },
  allowDirectAccess: { name: 'ALLOW_DIRECT_ACCESS', ...flag, default: 'false' },
} as const satisfies Table;

export type CallerSettings = Values<typeof CALLER_VARIABLES>;

/** The callers with these settings. A service with two secrets is one. */
export const callersIn = ({ routerSecrets, services }: CallerSettings): Callers => ({
  hasRouter: routerSecrets.length > 0,
  services: new Map(services.map(({ name, quota }) => [name, quota])),
});
