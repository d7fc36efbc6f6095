import { generateKey } from './captcha/attestation-keys.ts';
import { SANDBOX_HOST } from './config/listening.ts';
import type { Config } from './config/variables.ts';
import { newSealingKey, type SealingKey } from './fingerprint/judgement.ts';
import { SANDBOX_ATTESTATION } from './sandbox/accounts.ts';
import type { Sandbox } from './sandbox/server.ts';
import type { Explorer } from './server/server.ts';

/** The parts of the app that only sandbox mode has. What they need is loaded where it is used. */

/** Starts the embedded sandbox. */
export async function openSandbox(port: number): Promise<Sandbox> {
  const { startSandbox } = await import('./sandbox/server.ts');
  return startSandbox({ host: SANDBOX_HOST, port });
}

/** Loads the pages for people. Each time that one is opened, the sandbox issues a challenge for it. */
export async function openExplorer({ challengeUrl }: Sandbox): Promise<Explorer> {
  const { GRAPHIQL_PATH, renderApolloSandbox, renderGraphiql } = await import('./explorer/pages.ts');
  const issueChallenge = async () => (await fetch(challengeUrl, { method: 'POST' })).json();
  return {
    renderLandingPage: () => renderApolloSandbox(issueChallenge),
    graphiqlPath: GRAPHIQL_PATH,
    renderGraphiql: (endpoint) => renderGraphiql(endpoint, issueChallenge),
  };
}

/** What is attested, with its keys. What is not configured is as the sandbox has it; undefined in live mode. */
export function attestationOf({ attestation, attestationKeys, upstreamMode }: Config) {
  if (upstreamMode === 'live') return attestation && { settings: attestation, keys: attestationKeys };
  const keys = attestationKeys.length > 0 ? attestationKeys : [generateKey('active')];
  return { settings: attestation ?? SANDBOX_ATTESTATION, keys };
}

/** The configured keys. With none, sandbox mode makes one that lasts as long as the process. */
export function sealingKeysOf({ sealingKeys, upstreamMode }: Config): readonly SealingKey[] {
  return sealingKeys.length > 0 || upstreamMode === 'live' ? sealingKeys : [newSealingKey()];
}
