import { digits, lotNumber, token } from '../bench/tokens.ts';
import { WORKLOADS } from '../bench/workloads.ts';

/** What the soak asks. Requests are numbered, and no two numbers share a token or a challenge. */
export interface Question {
  /** The request with this number, as JSON. */
  readonly body: (number: number) => string;
  /** Is this the right answer to it? */
  readonly isAnsweredBy: (data: unknown, number: number) => boolean;
  /** What a right answer begins with, where parsing it would cost the load generator as much as it cost the server. */
  readonly beginning?: string;
}

const JUDGE = `query Soak($token: String!, $publicKey: ID) {
  deviceFingerprint(token: $token, publicKey: $publicKey) {
    __typename
    ... on DeviceFingerprint { requestId clientType signals { code level effect } }
    ... on DeviceFingerprintRejected { reason }
  }
}`;

/** Key of the application of a region. */
export const publicKeyOf = (region: string) => `pk_${region}`;

function judged(region: string): Question {
  return {
    body: (number) =>
      JSON.stringify({ query: JUDGE, variables: { token: token(number), publicKey: publicKeyOf(region) } }),
    isAnsweredBy: (data, number) => String(Object(data).deviceFingerprint?.requestId).endsWith(digits(number)),
  };
}

/** Fields of the catalogue in one document: some ms of CPU, and no upstream call. */
const HEAVY_FIELDS = Array.from({ length: 40 }, (_, at) => `c${at}: signalCatalogue { code level }`).join(' ');

export const QUESTIONS = {
  EU: judged('EU'),
  NA: judged('NA'),
  GLB: judged('GLB'),
  rejected: {
    body: (number) => JSON.stringify({ query: JUDGE, variables: { token: token(number, 'rejected') } }),
    isAnsweredBy: (data) => Object(data).deviceFingerprint?.reason === 'INVALID_TOKEN',
  },
  captcha: {
    body: WORKLOADS.captcha.body,
    isAnsweredBy: (data, number) => {
      const { __typename, details } = Object(Object(data).validateCaptcha);
      return __typename === 'CaptchaPassed' && details?.lotNumber === lotNumber(number);
    },
  },
  /** Nobody has solved it, so the right answer of a strict service is that it failed. */
  bogus: {
    body: (number) => WORKLOADS.captcha.body(number).replace('captcha-output-', 'made-up-output-'),
    isAnsweredBy: (data) => Object(Object(data).validateCaptcha).__typename === 'CaptchaFailed',
  },
  /** 100 tokens, each of which is a call of its own. */
  hundred: {
    body: WORKLOADS.entities.body,
    isAnsweredBy: (data) => Array.isArray(Object(data)._entities),
  },
  wrong: {
    body: () => JSON.stringify({ query: 'query Wrong { deviceFingerprint { __typename } }' }),
    isAnsweredBy: () => false,
  },
  /** Each has a name of its own, so that nothing can be remembered of it. */
  heavy: {
    body: (number) => JSON.stringify({ query: `query Heavy${number} { ${HEAVY_FIELDS} }` }),
    isAnsweredBy: () => false,
    beginning: '{"data":{"c0":[{"code":"',
  },
} as const satisfies Record<string, Question>;

export type QuestionName = keyof typeof QUESTIONS;
