import { once } from 'node:events';
import { createServer } from 'node:net';
import { expectedBut } from './sentences.ts';
import { REGIONS } from './values.ts';
import { type Config, VARIABLES } from './variables.ts';

/** The addresses of the configuration to listen on, and the sentences about those that cannot be listened on. */

/** The sandbox listens here, whatever `HOST` is. It answers every client, so only this machine may reach it. */
export const SANDBOX_HOST = '127.0.0.1';

interface Address {
  /** The variable that has the port. */
  readonly variable: string;
  readonly host: string;
  readonly port: number;
  /** What the port is for, if the variable sets several ports. */
  readonly purpose?: string;
}

/** The addresses that the app listens on. */
export function addressesOf(
  config: Pick<Config, 'upstreamMode' | 'host' | 'port' | 'adminPort' | 'sandboxPort'>,
): Address[] {
  const { host, port, adminPort } = config;
  return [
    { variable: VARIABLES.port.name, host, port },
    { variable: VARIABLES.adminPort.name, host, port: adminPort },
    ...(config.upstreamMode === 'sandbox' ? sandboxAddressesOf(config) : []),
  ];
}

/** The addresses that the sandbox listens on: one for each region, on ports that follow one another. */
export function sandboxAddressesOf({ sandboxPort }: Pick<Config, 'sandboxPort'>): Address[] {
  return REGIONS.map((region, index) => ({
    variable: VARIABLES.sandboxPort.name,
    host: SANDBOX_HOST,
    port: sandboxPort === 0 ? 0 : sandboxPort + index,
    purpose: `for region ${region}`,
  }));
}

/** Did a start fail because the system does not let it listen? */
export function isListenError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && /^(listen|bind|getaddrinfo)$/.test(String(error.syscall));
}

/**
 * Explains why a start could not listen. The start has ended at the first address that failed, and has closed the others.
 * This tries every address once more, so that all the wrong ones are reported and not only the first.
 *
 * @param failure the error of the start; its message is returned if every address is free by now
 */
export async function listenProblems(addresses: readonly Address[], failure: Error): Promise<string[]> {
  const servers = addresses.map(() => createServer());
  const tries = await Promise.allSettled(
    servers.map((server, index) => once(server.listen(addresses[index]), 'listening')),
  );
  for (const server of servers) server.close();
  const sentences = addresses.flatMap((address, index) => {
    const outcome = tries[index];
    return outcome?.status === 'rejected' ? listenProblem(address, outcome.reason) : [];
  });
  return sentences.length > 0 ? [...new Set(sentences)] : [failure.message];
}

/** One sentence that names the variable to correct. */
export function listenProblem({ variable, host, port, purpose }: Address, error: NodeJS.ErrnoException): string {
  const wanted = (kind: string) =>
    purpose ? `${variable}: expected ${kind} ${purpose}` : `${variable}: expected ${kind}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${wanted('a free port')}, but ${port} is taken.`;
    case 'EACCES':
      return `${wanted('a port that this user may open')}, but ${port} needs a privilege.`;
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
    case 'EINVAL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return expectedBut(VARIABLES.host.name, VARIABLES.host.expected, JSON.stringify(host));
    default:
      return `${wanted('a port to listen on')}, but the system answers ${error.code} for ${port}.`;
  }
}
