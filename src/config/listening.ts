import { once } from 'node:events';
import { createServer } from 'node:net';
import { expectedBut, REGIONS } from './values.ts';
import { type Config, VARIABLES } from './variables.ts';

/** The addresses of the configuration to listen on, and the sentences about those that cannot be listened on. */

/** The sandbox listens here, whatever `HOST` is. It answers every client, so only this machine may reach it. */
export const SANDBOX_HOST = '127.0.0.1';

interface Address {
  readonly variable: string;
  readonly host: string;
  readonly port: number;
  /** What the port is for, if the variable sets several ports. */
  readonly purpose?: string;
}

type Listening = Pick<Config, 'upstreamMode' | 'host' | 'port' | 'adminPort' | 'sandboxPort'>;

/** The addresses that the app listens on. */
export function addressesOf({ upstreamMode, host, port, adminPort, sandboxPort }: Listening): Address[] {
  return [
    { variable: 'PORT', host, port },
    { variable: 'ADMIN_PORT', host, port: adminPort },
    ...(upstreamMode === 'sandbox' ? sandboxAddresses(sandboxPort) : []),
  ];
}

/** The addresses that the sandbox listens on: one for each region, on ports that follow one another. */
export function sandboxAddresses(port: number): Address[] {
  return REGIONS.map((region, index) => ({
    variable: 'SANDBOX_PORT',
    host: SANDBOX_HOST,
    port: port === 0 ? 0 : port + index,
    purpose: ` for region ${region}`,
  }));
}

/**
 * Why a start could not listen: a sentence for each address. The start ended at the first one that failed, so this tries all of
 * them at once. There is none if every address is free.
 */
export async function listenProblems(addresses: readonly Address[]): Promise<string[]> {
  const problems = new Set<string>();
  const servers = addresses.map((address) =>
    createServer()
      .on('error', (error) => void problems.add(listenProblem(address, error)))
      .listen(address),
  );
  await Promise.allSettled(servers.map((server) => once(server, 'listening')));
  for (const server of servers) server.close();
  return [...problems];
}

/** One sentence that names the variable to correct. */
export function listenProblem({ variable, host, port, purpose = '' }: Address, error: NodeJS.ErrnoException): string {
  const code = error.code ?? '';
  if (/^E(ADDRNOTAVAIL|AFNOSUPPORT|INVAL|NOTFOUND|AI_AGAIN)$/.test(code))
    return expectedBut('HOST', VARIABLES.host.expected, JSON.stringify(host));
  const why = { EADDRINUSE: 'is taken', EACCES: 'needs a privilege' }[code] ?? `fails with ${code}`;
  return `${variable}: expected a free port${purpose}, but ${port} ${why}.`;
}
