import { type CaptchaParts, captchaRequest } from '../../src/captcha/slice.ts';
import { DeviceTrustError } from '../../src/errors.ts';
import { DEFAULT_POLICY, decide } from '../../src/fingerprint/policy.ts';
import { prepareApplication } from '../../src/fingerprint/request.ts';
import { createJudgements } from '../../src/fingerprint/sealed-judgement.ts';
import { DeviceRequest, type FingerprintParts } from '../../src/fingerprint/slice.ts';
import type { RequestFactory } from '../../src/graphql/context.ts';
import { schemaOf } from '../../src/graphql/schema.ts';
import { SLICES } from '../../src/slices.ts';
import { ANDROID, WEB } from '../faults/documented.ts';
import { outcomeOf } from '../fingerprint/support.ts';
import { DEFAULTS } from '../support/app.ts';
import { sealedJudgements } from '../support/judgements.ts';
import { type Overrides, startServer } from '../support/server.ts';

const application = prepareApplication({
  publicKey: 'pk_1',
  secret: 's',
  region: 'GLB',
  baseUrl: 'https://fp.example',
});

const ANSWERS = new Map<string, typeof ANDROID | typeof WEB>([
  ['android', ANDROID],
  ['web', WEB],
  ['too long to be sealed', { ...ANDROID, data: { ...ANDROID.data, event_id: 'x'.repeat(10_000) } }],
]);

interface Parts {
  readonly maxCost: number;
  readonly fingerprint: FingerprintParts;
  readonly captcha: CaptchaParts;
}

/** Upstreams that answer by what they are asked, so that two executions of one operation find the same world. */
export const PARTS: Parts = {
  maxCost: DEFAULTS.maxCost,
  fingerprint: {
    maxUpstreamCalls: 3,
    metrics: { recordLookup: () => {}, recordDroppedMetadata: () => {} },
    upstream: { find: (publicKey) => (publicKey === 'pk_unknown' ? undefined : application) },
    judgements: createJudgements(
      sealedJudgements().map(({ key }) => key),
      { recordJudgement: () => {} },
    ),
    query: async (request) => {
      if (request.token === 'unavailable') throw new DeviceTrustError('UPSTREAM_UNAVAILABLE');
      if (request.token === 'broken') throw new TypeError('a mistake of ours');
      const json = ANSWERS.get(request.token) ?? { code: 400, message: 'Invalid request', data: { errors: [] } };
      return outcomeOf(request, { status: json.code, json }, Date.UTC(2026, 0, 1));
    },
    decide: (device) => decide(DEFAULT_POLICY, device),
  },
  captcha: {
    maxCaptchas: 2,
    checkAttestation: ({ audience }) =>
      audience == null
        ? undefined
        : {
            audience: { id: audience, actions: [], subject: 'optional' },
            attest: async ({ proceed }) => (proceed ? `an attestation for ${audience}` : null),
          },
    validate: async ({ lotNumber }) => {
      if (lotNumber === 'throws') throw new DeviceTrustError('OVERLOADED');
      if (lotNumber === 'fails') {
        const details = { usedType: null, userIp: null, lotNumber };
        return { __typename: 'CaptchaFailed', proceed: false, reason: 'no', category: 'OTHER', details };
      }
      if (lotNumber === 'is open') {
        const rest = { cause: 'SERVICE', code: null, type: null, message: 'open', isAllowed: true } as const;
        return { __typename: 'CaptchaIndeterminate', proceed: true, ...rest };
      }
      return { __typename: 'CaptchaPassed', proceed: true, details: { usedType: 'slide', lotNumber, scene: 's' } };
    },
  },
};

/** These upstreams with other devices, of as many tokens as one request may name. */
export const withDevices = (query: FingerprintParts['query'], maxCost = DEFAULTS.maxCost) => ({
  ...PARTS,
  maxCost,
  fingerprint: { ...PARTS.fingerprint, maxUpstreamCalls: DEFAULTS.maxUpstreamCalls, query },
});

/** Starts the server of our schema over these upstreams. Whoever starts one stops it. */
export function startSubgraph(overrides: Overrides = {}, parts = PARTS) {
  const slices = new Map<string, RequestFactory>([
    ['fingerprint', { forRequest: (context) => new DeviceRequest(parts.fingerprint, context) }],
    ['captcha', { forRequest: (context) => captchaRequest(parts.captcha, context) }],
  ]);
  const missing = SLICES.find(({ name }) => !slices.has(name));
  if (missing) throw new Error(`expected a fake upstream for ${missing.name}, but got none`);
  return startServer(schemaOf(SLICES), { maxCost: parts.maxCost, slices, ...overrides });
}
