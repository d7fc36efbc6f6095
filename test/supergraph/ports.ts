import { isListenError, listenProblems, sandboxAddressesOf } from '../../src/config/listening.ts';
import { unknownNames } from '../../src/config/names.ts';
import { ConfigError, parseConfig } from '../../src/config/parser.ts';
import { expectedBut } from '../../src/config/sentences.ts';
import { port } from '../../src/config/values.ts';

/** The ports of `npm run supergraph`, and what a person reads if they are wrong or taken. */

interface Ports {
  readonly shopGatewayPort: number;
  readonly devicePort: number;
  readonly usersPort: number;
  readonly ordersPort: number;
  readonly shopPort: number;
  readonly deskGatewayPort: number;
  readonly deskPort: number;
  /** Of region GLB; the other regions use the next two. */
  readonly sandboxPort: number;
}

/** The shop's gateway listens on PORT, and the six others on the ports that follow. */
const FIRST_PORT = port(65_535 - 6);

/**
 * Reads PORT and SANDBOX_PORT; 0 stands for free ports.
 *
 * @throws ConfigError with a sentence for each mistake
 */
export function readPorts(env: NodeJS.ProcessEnv): Ports {
  const { sandboxPort } = parseConfig({ UPSTREAM_MODE: 'sandbox', SANDBOX_PORT: env['SANDBOX_PORT'] }, () => '');
  const problems = unknownNames(env);
  const first = FIRST_PORT.schema.safeParse(env['PORT'] || '4000');
  if (!first.success) problems.push(expectedBut('PORT', FIRST_PORT.expected, JSON.stringify(env['PORT'])));
  if (!first.success || problems.length > 0) throw new ConfigError(problems);
  const after = (offset: number) => (first.data === 0 ? 0 : first.data + offset);
  return {
    shopGatewayPort: after(0),
    devicePort: after(1),
    usersPort: after(2),
    ordersPort: after(3),
    shopPort: after(4),
    deskGatewayPort: after(5),
    deskPort: after(6),
    sandboxPort,
  };
}

/** A sentence for each reason why the start failed. What was started has to be stopped by now. */
export async function problemsOf(error: unknown, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  if (error instanceof ConfigError) return error.problems;
  if (!isListenError(error)) return [error instanceof Error ? error.message : String(error)];
  const ports = readPorts(env);
  const address = (port: number, purpose: string) => ({ variable: 'PORT', host: '127.0.0.1', port, purpose });
  return listenProblems(
    [
      address(ports.shopGatewayPort, "for the shop's gateway"),
      address(ports.devicePort, 'for device-trust'),
      address(ports.usersPort, 'for users'),
      address(ports.ordersPort, 'for orders'),
      address(ports.shopPort, 'for the shop'),
      address(ports.deskGatewayPort, "for the desk's gateway"),
      address(ports.deskPort, "for the analyst's desk"),
      ...sandboxAddressesOf(ports),
    ],
    error,
  );
}
