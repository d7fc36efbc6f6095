import { z } from 'zod';
import { entryOf, expecting, listOf, parsedJson, secretText, textThat } from './values.ts';

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

/** The headers in which a router or a service says on whose behalf it asks. */
export const trustedHeaders = {
  expected: 'JSON such as {"subject":"x-user-id","scopes":"x-user-scopes"}, with one of both or both',
  schema: parsedJson
    .pipe(entryOf({ subject: headerName.optional(), scopes: headerName.optional() }))
    .refine(({ subject, scopes }) => subject !== undefined || scopes !== undefined, {
      error: 'expected one header at least',
    }),
  hasParts: true,
} as const;
