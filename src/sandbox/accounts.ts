import type { CaptchaSettings } from '../captcha/settings.ts';
import type { FingerprintSettings } from '../fingerprint/settings.ts';
import type { Region } from '../upstream/settings.ts';

/** Every query for a `forbidden` application gets a 403 (fingerprint document, 5). */
type SandboxApplication = FingerprintSettings['fingerprintApplications'][number] & { readonly forbidden?: true };

/** Every application, the default one first. */
export const SANDBOX_APPLICATIONS: readonly SandboxApplication[] = [
  { publicKey: 'pk_sandbox_glb', secret: 'sk_sandbox_glb', region: 'GLB' },
  { publicKey: 'pk_sandbox_na', secret: 'sk_sandbox_na', region: 'NA' },
  { publicKey: 'pk_sandbox_eu', secret: 'sk_sandbox_eu', region: 'EU' },
  { publicKey: 'pk_sandbox_disabled', secret: 'sk_sandbox_glb', region: 'GLB', forbidden: true },
  // Its allow-list names another machine, and only this one can reach the sandbox.
  { publicKey: 'pk_sandbox_allowlist', secret: 'sk_sandbox_glb', region: 'GLB', forbidden: true },
  { publicKey: 'pk_sandbox_glb_2', secret: 'sk_sandbox_glb_2', region: 'GLB' },
  { publicKey: 'pk_sandbox_na_2', secret: 'sk_sandbox_na_2', region: 'NA' },
  { publicKey: 'pk_sandbox_eu_2', secret: 'sk_sandbox_eu_2', region: 'EU' },
];

/** `exception` is the code of a deleted or paused id (captcha document, 7.2). */
export type SandboxCaptcha = CaptchaSettings['captchaConfigurations'][number] & {
  readonly exception?: '-50104' | '-50105';
};

/** Every captcha configuration, the default one first. */
export const SANDBOX_CAPTCHAS: readonly SandboxCaptcha[] = [
  { captchaId: 'a'.repeat(32), captchaKey: 'key_sandbox_glb', region: 'GLB' },
  { captchaId: 'b'.repeat(32), captchaKey: 'key_sandbox_na', region: 'NA' },
  { captchaId: 'c'.repeat(32), captchaKey: 'key_sandbox_eu', region: 'EU' },
  { captchaId: 'd'.repeat(32), captchaKey: 'key_sandbox_glb', region: 'GLB', exception: '-50104' },
  { captchaId: 'e'.repeat(32), captchaKey: 'key_sandbox_glb', region: 'GLB', exception: '-50105' },
  { captchaId: '1'.repeat(32), captchaKey: 'key_sandbox_glb_2', region: 'GLB' },
  { captchaId: '2'.repeat(32), captchaKey: 'key_sandbox_na_2', region: 'NA' },
  { captchaId: '3'.repeat(32), captchaKey: 'key_sandbox_eu_2', region: 'EU' },
];

/** The captcha configuration with this id in this region, or the code of an exception (captcha document, 7.2). */
export function findCaptcha(captchaId: string, region: Region): SandboxCaptcha | string {
  if (captchaId === '') return '-50101';
  if (captchaId.length !== 32) return '-50102';
  const captcha = SANDBOX_CAPTCHAS.find((row) => row.captchaId === captchaId && row.region === region);
  if (!captcha) return '-50103';
  return captcha.exception ?? captcha;
}

/** The attestations of sandbox mode: two services to try, with or without a person: a login does not know the person yet. */
export const SANDBOX_ATTESTATION = {
  issuer: 'https://device-trust.sandbox',
  lifetimeSeconds: 120,
  audiences: [
    { id: 'orders', actions: ['placeOrder'], subject: 'optional' },
    { id: 'accounts', actions: ['logIn'], subject: 'optional' },
  ],
} as const;
