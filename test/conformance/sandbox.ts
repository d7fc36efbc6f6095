import { type Equipment, type Region, takeChallenge } from './target.ts';

/** The sandbox with its accounts, its tokens and its forced outcomes (src/sandbox/README.md). Nothing is missing. */
export function sandboxTarget(urls: Readonly<Record<Region, string>>): Equipment {
  const { GLB, NA, EU } = urls;
  const application = { url: GLB, publicKey: 'pk_sandbox_glb', secret: 'sk_sandbox_glb' };
  const captcha = { url: GLB, captchaId: 'a'.repeat(32), captchaKey: 'key_sandbox_glb' };
  return {
    application,
    applications: {
      GLB: application,
      NA: { url: NA, publicKey: 'pk_sandbox_na', secret: 'sk_sandbox_na' },
      EU: { url: EU, publicKey: 'pk_sandbox_eu', secret: 'sk_sandbox_eu' },
    },
    disabledApplication: { ...application, publicKey: 'pk_sandbox_disabled' },
    excludedApplication: { ...application, publicKey: 'pk_sandbox_allowlist', allowedAddress: '192.0.2.1' },

    token: 'sandbox:ios:VPN_ENABLED,DEVICE_JAILBREAK#conformance',
    androidToken: 'sandbox:android',
    iosToken: 'sandbox:ios',
    webToken: 'sandbox:web',
    quietToken: 'sandbox:android#quiet',
    brokenToken: 'sandbox:error:500',
    tokenWithSignals: (signals) => `sandbox:android:${signals.join(',')}`,

    captcha,
    captchas: {
      GLB: captcha,
      NA: { url: NA, captchaId: 'b'.repeat(32), captchaKey: 'key_sandbox_na' },
      EU: { url: EU, captchaId: 'c'.repeat(32), captchaKey: 'key_sandbox_eu' },
    },
    deletedCaptcha: { ...captcha, captchaId: 'd'.repeat(32) },
    pausedCaptcha: { ...captcha, captchaId: 'e'.repeat(32) },
    solve: ({ url, captchaId }) => takeChallenge(`${url}/sandbox/challenges`, captchaId),
    failingLotNumber: (reason) => `sandbox:fail:${reason}`,
    raisingLotNumber: (code) => `sandbox:exception:${code}`,
  };
}
