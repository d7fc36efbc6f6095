import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { RequestContext } from '../graphql/context.ts';
import type { DeviceFingerprintSignalsArgs, Resolvers, Signal } from '../schema.generated.ts';
import type { DeviceRequest } from './device-request.ts';
import type { FingerprintOutcome, JudgedDevice } from './outcome.ts';
import { LEVEL_RANK, SIGNAL_CATALOGUE } from './signal-catalogue.ts';

export interface FingerprintContext extends RequestContext {
  readonly fingerprint: DeviceRequest;
}

export const fingerprintResolvers: Resolvers<FingerprintContext> = {
  Query: {
    deviceFingerprint: (_root, args, { fingerprint }) => fingerprint.device(args),
    signalCatalogue: () => [...SIGNAL_CATALOGUE],
  },
  DeviceFingerprint: {
    __resolveReference: (reference, { fingerprint }) => {
      const { token } = reference;
      if (typeof token !== 'string') throw badUserInput('token', 'a string', 'something else');
      // Only the keys are used. Other fields of a representation were never checked, so they must not become arguments, and the
      // trusted headers are about who looks at the device.
      const publicKey = 'publicKey' in reference ? reference.publicKey : null;
      return fingerprint.lookUp({ token, publicKey }).then(acceptedDevice);
    },
    // Sound, twice: the parent is always what `lookUp` returned. The generated types know only the fields of the graph.
    decision: (device, _args, { fingerprint }) => fingerprint.decide(device as JudgedDevice),
    judgement: (device, _args, { fingerprint }) => fingerprint.judge(device as JudgedDevice),
    signals,
  },
  DeviceJudgement: {
    __resolveReference: ({ sealed }, { fingerprint }) => {
      if (typeof sealed !== 'string') throw badUserInput('sealed', 'a string', 'something else');
      return fingerprint.openJudgement(sealed);
    },
    decision: (judgement, _args, { fingerprint }) => fingerprint.decisionOf(judgement),
    sealed: (judgement, _args, { fingerprint }) => fingerprint.sealedOf(judgement),
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
  context: RequestContext,
): Signal[] | null {
  if (minConfidence != null && !(minConfidence >= 0 && minConfidence <= 1))
    return context.refuseField(() => badUserInput('minConfidence', 'a number from 0 to 1', 'one outside'));
  if (!all || (minLevel == null && minConfidence == null)) return all ?? null;
  return all.filter(
    ({ level, confidence }) => LEVEL_RANK[level] >= LEVEL_RANK[minLevel ?? 'LOW'] && confidence >= (minConfidence ?? 0),
  );
}
