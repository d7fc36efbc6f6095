import { z } from 'zod';
import { entryOf, expecting, listOf, oneOf, parsedJson, secretText, textThat } from './values.ts';

/** The values that say who may ask, and on whose behalf. */

const MAX_SERVICES = 64;
// The names of those who are no service in the log and the metrics.
const RESERVED = ['router', 'anyone'];

const serviceName = textThat(
  '1 to 64 lowercase letters, digits and hyphens, and neither router nor anyone',
  (text) => /^[a-z0-9-]{1,64}$/.test(text) && !RESERVED.includes(text),
);

/** What a service may be allowed to see. */
export const SCOPES = ['risk:read'] as const;

/** Services that ask without the router. While a secret is rotated, its service has two entries with the same name. */
export const serviceList = {
  expected: `a JSON list of at most ${MAX_SERVICES} {"name", "secret", "scopes"}, with names of lowercase letters, digits and hyphens, and different secrets of 16 to 256 visible ASCII characters; the only scope is ${SCOPES}, and entries with the same name have the same scopes`,
  schema: listOf(
    {
      name: serviceName,
      secret: secretText,
      scopes: z
        .array(z.enum(SCOPES, { error: expecting(SCOPES.join()) }), { error: 'expected a list of scopes' })
        .readonly()
        .default([]),
    },
    'secret',
  )
    .refine((list) => list.length <= MAX_SERVICES, { error: `expected at most ${MAX_SERVICES} entries` })
    .superRefine((list, context) => {
      const scopesOf = new Map<string, string>();
      for (const [index, { name, scopes }] of list.entries()) {
        const text = [...new Set(scopes)].sort().join(' ');
        if (text !== (scopesOf.get(name) ?? text)) {
          const message = 'expected the scopes of the first entry with this name';
          context.addIssue({ code: 'custom', path: [index, 'scopes'], message });
        }
        scopesOf.set(name, scopesOf.get(name) ?? text);
      }
    }),
};

// Hop-by-hop headers (RFC 9110, section 7.6.1) are about a connection, and the others hold credentials.
const UNTRUSTED =
  /^(authorization|router-authorization|cookie|connection|keep-alive|proxy-(connection|authenticate|authorization)|te|trailer|transfer-encoding|upgrade)$/;

/** The name of a header (a token of RFC 9110, section 5.6.2), in lower case. */
const headerName = textThat(
  'the name of a header that is neither hop-by-hop nor for credentials',
  (text) => /^[\w!#$%&'*+.^`|~-]{1,64}$/.test(text) && !UNTRUSTED.test(text.toLowerCase()),
).transform((text) => text.toLowerCase());

const from = oneOf(['header', 'header-or-argument']).optional();
const metadataHeader = entryOf({ header: headerName, from }).optional();
const hopsError = { error: 'expected a whole number from 1 to 16' };
const hops = z.int(hopsError).min(1, hopsError).max(16, hopsError);
const port = z.boolean({ error: 'expected true or false' });

/** A header for each key of the metadata, and one for an IP address of either kind. */
const metadataHeaders = entryOf({
  ipAddr: entryOf({ header: headerName, from, hops: hops.optional(), port: port.optional() }).optional(),
  accountId: metadataHeader,
  phoneNum: metadataHeader,
  phoneSha256: metadataHeader,
  phoneCountryCode: metadataHeader,
  phonePrefix: metadataHeader,
  email: metadataHeader,
  emailSha256: metadataHeader,
  emailDomain: metadataHeader,
  ipAddrV4: metadataHeader,
  ipAddrV6: metadataHeader,
  userAgent: metadataHeader,
  ja3: metadataHeader,
  ja4: metadataHeader,
  macPrefix: metadataHeader,
  wifiBssidPrefix: metadataHeader,
  tlsCipher: metadataHeader,
})
  .refine((headers) => Object.keys(headers).length > 0, { error: 'expected one key at least' })
  .refine(({ ipAddr, ipAddrV4, ipAddrV6 }) => !ipAddr || !(ipAddrV4 || ipAddrV6), {
    error: 'expected either ipAddr or ipAddrV4 and ipAddrV6',
  });

/** The headers in which a router or a service says on whose behalf it asks, and what it knows about the client. */
export const trustedHeaders = {
  expected:
    'JSON such as {"subject":"x-user-id","scopes":"x-user-scopes","metadata":{"ipAddr":{"header":"x-client-ip"}}}, with at least one of the three',
  schema: parsedJson
    .pipe(
      entryOf({
        subject: headerName.optional(),
        scopes: headerName.optional(),
        metadata: metadataHeaders.optional(),
      }),
    )
    .refine((headers) => Object.keys(headers).length > 0, { error: 'expected one header at least' }),
  hasParts: true,
} as const;
