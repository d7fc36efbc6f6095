import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';

/** An import of `node:http` would load the undici inside Node, which delays a start by about 30 ms. */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

/** Makes a server listen; port 0 takes a free port. Resolves with its scheme, host and port, without a trailing slash. */
export async function listenOn(server: Server, host: string, port: number): Promise<string> {
  // Without a host Node listens on `::`, for IPv4 and IPv6, and where there is no IPv6 on 0.0.0.0.
  await once(server.listen(port, host === '::' ? undefined : host), 'listening'); // rejects on 'error'
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('expected to listen on a port, but got a pipe');
  const { address, family } = bound;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${bound.port}`;
}

/** The options of TLS for a host. A final dot keeps resolvers from search domains, but is not allowed in TLS (RFC 6066, 3). */
export const tlsOptionsFor = (hostname: string): { readonly servername?: string } =>
  hostname.endsWith('.') ? { servername: hostname.slice(0, -1) } : {};

/** A target in origin-form, or in absolute-form with a host that replaces the `Host` header (RFC 9112, section 3.2.2). */
const TARGET = /^(?:https?:\/\/([^/?]*))?([^?]*)/i;

export function pathOf({ url = '' }: IncomingMessage): string {
  return TARGET.exec(url)?.[2] || '/';
}

// No public site is below these: they are reserved (RFC 6761, 6762, 8375, ICANN), or no top-level domain (`lan`, and `svc` of a cluster).
const LOCAL_NAME = /^([\w-]+|[\w.-]+\.(home\.arpa|internal|lan|local|localhost|svc|test))\.?$/i;
export const LOCAL_NAMES =
  'an address, a name without a dot, or one below home.arpa, internal, lan, local, localhost, svc or test';

/** Is the host an address or a local name? Any other name may belong to another site (DNS rebinding). */
export function hasLocalName({ url = '', headers }: IncomingMessage): boolean {
  const host = TARGET.exec(url)?.[1] ?? headers.host ?? '';
  const name = host.replace(/:\d+$/, '');
  return LOCAL_NAME.test(name) || isIP(name.replace(/^\[|\]$/g, '')) > 0;
}

/** The origin of a page from a server of this machine, or of Apollo Sandbox, as browsers write it. */
export const DEVELOPMENT_ORIGIN =
  /^(http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?|https:\/\/studio\.apollographql\.com)$/;

/** For development: lets only pages of these origins read the response (CORS). Returns true if it has answered a preflight. */
export function answerDevelopmentPage({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('vary', 'origin');
  if (!DEVELOPMENT_ORIGIN.test(headers.origin ?? '')) return false;
  response.setHeader('access-control-allow-origin', headers.origin ?? '');
  if (method !== 'OPTIONS') return false;
  // Some versions of Chrome ask this before a public page may reach this machine.
  response.setHeader('access-control-allow-private-network', 'true');
  // Every header is allowed: clients send headers of their own, and TRUSTED_HEADERS may name any.
  response.setHeader('access-control-allow-headers', headers['access-control-request-headers'] ?? '');
  response.writeHead(204, { 'access-control-allow-methods': 'POST' }).end();
  return true;
}
