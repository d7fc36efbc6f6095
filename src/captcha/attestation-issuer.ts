import { type AttestationSettings, createPermits, type IssuingOptions, type PermitAttestation } from './attestation.ts';
import type { AttestationKey } from './attestation-keys.ts';
import type { AttestationSigner } from './attestation-signer.ts';

/** Everything about attestations that the rest of the process works with. */
export interface AttestationIssuer {
  readonly permit: PermitAttestation;
  /** The JWK set as JSON. Undefined if no attestations are configured. */
  readonly jwks: () => string | undefined;
  readonly replaceKeys: (keys: readonly AttestationKey[]) => void;
}

/** The configuration, or what takes its place in the sandbox. */
interface Configured {
  readonly settings: AttestationSettings;
  readonly keys: readonly AttestationKey[];
}

/** Makes the issuer. Without a configuration every audience is unknown, and the library that signs is not loaded. */
export async function openAttestationIssuer(
  configured: Configured | undefined,
  options: IssuingOptions,
): Promise<AttestationIssuer> {
  let signer: AttestationSigner | undefined;
  if (configured) {
    const { createSigner } = await import('./attestation-signer.ts');
    signer = createSigner(configured.keys);
  }
  return {
    permit: createPermits({ ...options, settings: configured?.settings, signer }),
    jwks: () => signer?.jwks,
    replaceKeys: (keys) => signer?.replaceKeys(keys),
  };
}
