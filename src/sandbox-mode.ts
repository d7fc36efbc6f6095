import type { ConfiguredAccounts } from './config/accounts.ts';
import { SANDBOX_HOST } from './config/listening.ts';
import type { Config } from './config/variables.ts';
import { type ExampleCommand, exampleCommands } from './explorer/examples.ts';
import { newSealingKey, type SealingKey } from './fingerprint/sealing-key.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from './sandbox/accounts.ts';
import type { Sandbox } from './sandbox/server.ts';
import type { Explorer } from './server/listener.ts';

/** The parts of the app that only sandbox mode has. What they need is loaded only there. */

/** Starts the embedded sandbox. */
export async function openSandbox(port: number): Promise<Sandbox> {
  const { startSandbox } = await import('./sandbox/server.ts');
  return startSandbox({ host: SANDBOX_HOST, port });
}

/** Loads the pages for people. */
export async function openExplorer(): Promise<Explorer> {
  const { apolloSandboxPage } = await import('./explorer/landing-page.ts');
  const { GRAPHIQL_PATH, renderGraphiql } = await import('./explorer/graphiql.ts');
  return { landingPage: apolloSandboxPage(), graphiqlPath: GRAPHIQL_PATH, renderGraphiql };
}

/** The accounts of the sandbox, with its addresses. */
export function sandboxAccounts({ urls }: Sandbox): ConfiguredAccounts {
  return {
    applications: SANDBOX_APPLICATIONS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
    captchas: SANDBOX_CAPTCHAS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
  };
}

/** Commands that ask this app something. */
export function examplesFor(graphqlUrl: string, { urls }: Sandbox): ExampleCommand[] {
  const [captcha] = SANDBOX_CAPTCHAS;
  return exampleCommands(graphqlUrl, `${urls.GLB}/sandbox/challenges?captcha_id=${captcha?.captchaId}`);
}

/** The configured keys. With none, sandbox mode makes one that lasts as long as the process. */
export function sealingKeysOf({ sealingKeys, upstreamMode }: Config): readonly SealingKey[] {
  return sealingKeys.length > 0 || upstreamMode === 'live' ? sealingKeys : [newSealingKey()];
}
