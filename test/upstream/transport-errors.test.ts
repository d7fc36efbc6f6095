import { describe, expect, test } from 'vitest';
import { toUpstreamError } from '../../src/upstream/transport-errors.ts';

/** Whose failure the codes of the system and of OpenSSL are. */

const failure = (code: string, address?: string) => Object.assign(new Error(code), { code, address });

describe('what fails on this machine is no failure of the upstream', () => {
  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETUNREACH', 'ENETDOWN', 'EPERM', 'EACCES'])(
    '%s',
    (code) => {
      expect(toUpstreamError(failure(code)).code).toBe('OVERLOADED');
      const attempts = [failure('ECONNREFUSED', '203.0.113.9'), failure(code, '203.0.113.10')];
      expect(toUpstreamError(new AggregateError(attempts)).code).toBe('OVERLOADED');
    },
  );

  test.each(['EADDRNOTAVAIL', 'ENETUNREACH'])('but without IPv6 an IPv6 address with %s says nothing', (code) => {
    const attempts = [failure(code, '2001:db8::9'), failure('ECONNREFUSED', '203.0.113.9')];
    expect(toUpstreamError(new AggregateError(attempts)).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(toUpstreamError(new AggregateError([failure(code, '2001:db8::9')])).code).toBe('OVERLOADED');
  });
});

// The reasons of X509_verify_cert_error_string, as Node names them.
test.each([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
  'PATH_LENGTH_EXCEEDED',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNSPECIFIED',
])('a certificate that is refused with %s is our configuration', (code) => {
  expect(toUpstreamError(failure(code)).code).toBe('UPSTREAM_REJECTED');
});

test.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT'])('%s is a failure of the upstream', (code) => {
  expect(toUpstreamError(failure(code)).code).toBe('UPSTREAM_UNAVAILABLE');
});
