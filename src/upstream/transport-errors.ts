import { isIPv6 } from 'node:net';
import { DeviceTrustError } from '../errors.ts';
import { propertiesOf } from '../runtime/json.ts';

/** Whose failure an error is: the upstream's, or this machine's. */

/** Is this a failure of a service or of its account, and no limit of our own? */
export function isUpstreamFailure(error: unknown): error is DeviceTrustError {
  return error instanceof DeviceTrustError && error.code.startsWith('UPSTREAM_');
}

/** The names of undici's errors for a peer that breaks the rules of HTTP, or the size limit. */
const PROTOCOL_ERRORS = /^(HTTPParser|HeadersOverflow|ResponseContentLengthMismatch|ResponseExceededMaxSize)Error$/;

/** Failures of this machine. As the upstream's, idle connections or our own firewall could let everybody proceed. */
const LOCAL_FAILURES = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|EADDRNOTAVAIL|ENETUNREACH|ENETDOWN|EPERM|EACCES)$/;

const WITHOUT_IPV6 = /^(EADDRNOTAVAIL|ENETUNREACH)$/;

/** Did an attempt fail on this machine? Each address of a name is one. Without IPv6 those for IPv6 fail here, and show nothing. */
function isLocal(cause: unknown): boolean {
  const attempts = (cause instanceof AggregateError ? cause.errors : [cause]).map(propertiesOf);
  const others = attempts.filter(({ code, address }) => !(WITHOUT_IPV6.test(`${code}`) && isIPv6(`${address}`)));
  return (others.length > 0 ? others : attempts).some(({ code }) => LOCAL_FAILURES.test(`${code}`));
}

/** Codes for a certificate that is not accepted: the address or our list is wrong, or somebody is in between. */
const CERTIFICATE_ERRORS =
  /^(ERR_TLS_CERT_|CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|UNSPECIFIED$)/;

/** Distinguishes errors of undici and node:net by name and code, never by their messages. */
export function toUpstreamError(cause: unknown): DeviceTrustError {
  if (cause instanceof DeviceTrustError) return cause;
  const { name, code = '' } = propertiesOf(cause);
  const internal = `${name} ${code}`.trim();
  if (isLocal(cause)) return new DeviceTrustError('OVERLOADED', { internal });
  if (CERTIFICATE_ERRORS.test(`${code}`)) return new DeviceTrustError('UPSTREAM_REJECTED', { internal });
  const isProtocol = PROTOCOL_ERRORS.test(`${name}`);
  return new DeviceTrustError(isProtocol ? 'UPSTREAM_PROTOCOL_ERROR' : 'UPSTREAM_UNAVAILABLE', { internal });
}

/** Only "no such host" is about the upstream. Every other failure of a look-up is ours, and must not become a captcha outcome. */
export function toLookupError(error: Error): DeviceTrustError {
  const { code } = propertiesOf(error);
  const internal = `look-up ${code}`;
  if (code !== 'ENOTFOUND') return new DeviceTrustError('OVERLOADED', { internal });
  return new DeviceTrustError('UPSTREAM_UNAVAILABLE', { why: 'unknown_host', internal });
}
