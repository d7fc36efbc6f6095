import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { FingerprintOutcome, JudgedDevice } from '../fingerprint/outcome.ts';
import { LEVEL_RANK, SIGNAL_CATALOGUE } from '../fingerprint/signal-catalogue.ts';
import type { DeviceFingerprintSignalsArgs, Resolvers, Signal } from '../schema.generated.ts';
import type { GraphQLContext } from './context.ts';

export const fingerprintResolvers: Resolvers<GraphQLContext> = {
  Query: {
    deviceFingerprint: (_root, args, context) => context.device(args),
    signalCatalogue: () => [...SIGNAL_CATALOGUE],
  },
  DeviceFingerprint: {
    __resolveReference: (reference, context) => {
      const { token } = reference;
      if (typeof token !== 'string') throw badUserInput('token', 'a string', 'something else');
      // Only the keys are used. Other fields of a representation were never checked, so they must not become arguments, and the
      // trusted headers are about who looks at the device.
      const publicKey = 'publicKey' in reference ? reference.publicKey : null;
      return context.lookUp({ token, publicKey }).then(acceptedDevice);
    },
    // Sound, twice: the parent is always what `lookUp` returned. The generated types know only the fields of the graph.
    decision: (device, _args, context) => context.decide(device as JudgedDevice),
    judgement: (device, _args, context) => context.judge(device as JudgedDevice),
    signals,
  },
  DeviceJudgement: {
    __resolveReference: ({ sealed }, context) => {
      if (typeof sealed !== 'string') throw badUserInput('sealed', 'a string', 'something else');
      return context.openJudgement(sealed);
    },
    // Compiled code expects a resolver where a field can fail.
    sealed: (judgement) => judgement.sealed,
    signals,
  },
};

function acceptedDevice(outcome: FingerprintOutcome): JudgedDevice {
  // No union can carry a rejection here.
  if (outcome.__typename === 'DeviceFingerprintRejected') throw new DeviceTrustError('DEVICE_TOKEN_REJECTED');
  return outcome;
}

function signals(
  { signals: all }: { readonly signals?: Signal[] | null },
  { minLevel, minConfidence }: Partial<DeviceFingerprintSignalsArgs>,
  context: GraphQLContext,
): Signal[] | null {
  if (minConfidence != null && !(minConfidence >= 0 && minConfidence <= 1))
    return context.refuseField(() => badUserInput('minConfidence', 'a number from 0 to 1', 'one outside'));
  if (!all || (minLevel == null && minConfidence == null)) return all ?? null;
  return all.filter(
    ({ level, confidence }) => LEVEL_RANK[level] >= LEVEL_RANK[minLevel ?? 'LOW'] && confidence >= (minConfidence ?? 0),
  );
}

export const captchaResolvers: Resolvers<GraphQLContext> = {
  Mutation: { validateCaptcha: (_root, { input }, context) => context.validateCaptcha(input) },
  CaptchaPassed: { attestation: (verdict, _args, context) => context.attest(verdict) },
  CaptchaFailed: { attestation: (verdict, _args, context) => context.attest(verdict) },
  CaptchaIndeterminate: { attestation: (verdict, _args, context) => context.attest(verdict) },
};
