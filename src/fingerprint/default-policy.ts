// biome-ignore-all lint/suspicious/noThenProperty: the format of a policy has this key, and nobody awaits a rule.
import type { PolicyDefinition } from './policy.ts';
import { compilePolicy } from './policy-compiler.ts';

/**
 * The policy that is used without a file. It refuses only what somebody has put on a blacklist: no signal of a machine is
 * proof enough to refuse a person, and a phone of a hobbyist is rooted, unlocked and runs a ROM of its own all at once.
 */
const DEFINITION: PolicyDefinition = {
  rules: [
    { id: 'listed', when: { effect: 'DENY' }, then: 'DENY' },
    // Counts what a stricter policy would refuse, so that an analyst can look at these before making it so.
    {
      id: 'tools-in-use',
      when: {
        anyOf: [
          'ANTIDETECT_BROWSER',
          'HOOK_TAMPERING_HIGH',
          'PSEUDO_BROWSER_ENV',
          'SUSPICIOUS_DEVICE_INFO_TAMPERED',
          'USING_AUTOMATION_TOOL',
          'USING_DEVICE_TAMPERING_TOOL',
          'USING_REVERSE_ENGINEERING_TOOL',
        ],
        atLeast: 2,
      },
      then: 'DENY',
      shadow: true,
    },
    // Before the whitelists: a token that is replayed shows the device of somebody else.
    { id: 'reused-token', when: { anyOf: ['TOKEN_EXPIRED'] }, then: 'CHALLENGE' },
    { id: 'trusted', when: { effect: 'ALLOW' }, then: 'ALLOW' },
    // Without an effect, so that it also counts a serious signal that is newer than the catalogue.
    { id: 'serious', when: { minLevel: 'HIGH' }, then: 'CHALLENGE' },
    // A caller who guides a victim sees the screen and speaks on the phone.
    { id: 'guided', when: { anyOf: ['SCREEN_SHARING', 'VOICE_CONNECTED'], atLeast: 2 }, then: 'CHALLENGE' },
    { id: 'several', when: { minLevel: 'MEDIUM', minConfidence: 0.8, atLeast: 2 }, then: 'CHALLENGE' },
  ],
  otherwise: 'ALLOW',
};

export const DEFAULT_POLICY = compilePolicy(DEFINITION);
