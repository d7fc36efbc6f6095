import { isIPv6 } from 'node:net';
import { DeviceTrustError } from '../errors.ts';
import { propertiesOf } from '../runtime/json.ts';

/** Is this a failure of a service or of its account, and no limit of our own? */
export function isUpstreamFailure(error: unknown): error is DeviceTrustError {
  return error instanceof DeviceTrustError && error.code.startsWith('UPSTREAM_');
}

/** Codes of a connection that the other side refuses, resets or never answers: nothing else looks like an outage. */
const CONNECTION_FAILURES =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|UND_ERR_SOCKET|UND_ERR_CONNECT_TIMEOUT)$/;

/** Failures of this machine, such as too many connections or our own firewall, which must not look like an outage. */
const LOCAL_FAILURES = /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|EADDRNOTAVAIL|ENETUNREACH|ENETDOWN|EPERM|EACCES)$/;

const WITHOUT_IPV6 = /^(EADDRNOTAVAIL|ENETUNREACH)$/;

/** The codes of an error, or of the attempt at each address. Without IPv6 here, attempts by IPv6 say nothing about the service. */
function codesOf(cause: unknown): string[] {
  const attempts = (cause instanceof AggregateError ? cause.errors : [cause]).map(propertiesOf);
  const relevant = attempts.filter(({ code, address }) => !(WITHOUT_IPV6.test(`${code}`) && isIPv6(`${address}`)));
  return (relevant.length > 0 ? relevant : attempts).map(({ code }) => `${code}`);
}

/** Codes of OpenSSL and Node for a handshake that fails. They suggest an intermediary, not an outage. */
const HANDSHAKE_FAILURES =
  /^(ERR_SSL_|ERR_TLS_CERT_|CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|HOSTNAME_MISMATCH$|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_EXCEEDED$|UNSPECIFIED$)/;

/** Attributes an error of undici or node:net by its code, never its message. An unknown code is about the bytes that were read, and shows no outage. */
export function toUpstreamError(cause: unknown): DeviceTrustError {
  if (cause instanceof DeviceTrustError) return cause;
  const { name, code = '' } = propertiesOf(cause);
  const internal = `${name} ${code}`.trim();
  // This process stops, and closes its own calls.
  if (code === 'UND_ERR_DESTROYED') return new DeviceTrustError('CANCELLED', { internal });
  const codes = codesOf(cause);
  const hasCode = (known: RegExp) => codes.some((each) => known.test(each));
  if (hasCode(LOCAL_FAILURES)) return new DeviceTrustError('OVERLOADED', { internal });
  if (hasCode(HANDSHAKE_FAILURES)) return new DeviceTrustError('UPSTREAM_REJECTED', { internal });
  if (hasCode(CONNECTION_FAILURES)) return new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal });
  return new DeviceTrustError('UPSTREAM_PROTOCOL_ERROR', { internal });
}

/** Only "no such host" is about the upstream. Every other failure of a look-up is ours, and must not look like an outage. */
export function toLookupError(error: Error): DeviceTrustError {
  const { code } = propertiesOf(error);
  const internal = `look-up ${code}`;
  if (code !== 'ENOTFOUND') return new DeviceTrustError('OVERLOADED', { internal });
  return new DeviceTrustError('UPSTREAM_UNAVAILABLE', { why: 'unknown_host', internal });
}
