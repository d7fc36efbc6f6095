import { captchaPass, decided, judgement, undecided } from './answers.ts';
import { ATTESTED_CAPTCHA, DECIDED, INVALID, SEALED, singleNamed, singleWithAlias, UNDECIDED } from './documents.ts';
import { AUDIENCE } from './production.ts';
import { sealedJudgement, sealedRecord } from './sealed.ts';
import { digits, lotNumber, type TokenKind, token } from './tokens.ts';
import { FEW, MANY, requestOf, type Workload } from './workload.ts';

/** What only our server is asked, or it and one other: what is new, what is never the same, and what is wrong. */

const ROTATING_DOCUMENTS = 5_000;
/** A document is compiled when it is sent for the third time. */
const SENT_BEFORE = 4;

const attested = requestOf(ATTESTED_CAPTCHA);
const sealed = requestOf(SEALED);
const invalid = requestOf(INVALID);

/** The full query of a client whose documents have these names. */
function named(title: string, nameOf: (number: number) => string): Workload {
  return {
    title,
    connections: MANY,
    body: (number) => requestOf(singleNamed(nameOf(number)))({ token: token(number), eventType: 'checkout' }),
    data: (number) => ({ deviceFingerprint: judgement(number) }),
  };
}

/** The full query of a client whose documents name a field of the answer like this. */
function aliased(title: string, aliasOf: (number: number) => string): Workload {
  return {
    title,
    connections: MANY,
    body: (number) => requestOf(singleWithAlias(aliasOf(number)))({ token: token(number), eventType: 'checkout' }),
    data: (number) => {
      const fields = Object.entries(judgement(number));
      const renamed = fields.map(([key, value]) => [key === 'requestId' ? aliasOf(number) : key, value]);
      return { deviceFingerprint: Object.fromEntries(renamed) };
    },
  };
}

/** References to as many tokens. */
function references(title: string, query: string, size: number, answer: (number: number) => unknown, kind?: TokenKind) {
  const bodyOf = requestOf(query);
  const numbersOf = (number: number) => Array.from({ length: size }, (_, at) => number * size + at);
  return {
    title,
    connections: FEW,
    body: (number: number) => {
      const representation = (at: number) => ({ __typename: 'DeviceFingerprint', token: token(at, kind) });
      return bodyOf({ representations: numbersOf(number).map(representation) });
    },
    data: (number: number) => ({ _entities: numbersOf(number).map(answer) }),
  };
}

export const OWN_WORKLOADS = {
  attested: {
    title: 'the captcha mutation with its attestation',
    connections: MANY,
    body: (number) => {
      const proof = { captchaOutput: 'captcha-output-'.repeat(12), passToken: 'pass-token-'.repeat(6) };
      return attested({ input: { lotNumber: lotNumber(number), ...proof, genTime: '1772353800', ...AUDIENCE } });
    },
    data: (number) => {
      const { __typename, proceed, ...others } = captchaPass(number);
      return { validateCaptcha: { __typename, proceed, attestation: '...', ...others } };
    },
    // A JWS in compact form.
    unpredictable: /ey[\w-]+\.ey[\w-]+\.[\w-]{86}/g,
  },
  undecided: references('100 devices', UNDECIDED, 100, undecided),
  decided: {
    ...references('100 devices, each with its decision', DECIDED, 100, (number) => decided(number, '...')),
    // The id of the built-in policy, a hash.
    unpredictable: /(?<="policy":")[\w-]+/g,
  },
  sealed: {
    title: '_entities: 100 sealed judgements',
    connections: FEW,
    body: (number) => {
      const representation = (at: number) => ({ __typename: 'DeviceJudgement', sealed: sealedJudgement(at) });
      return sealed({ representations: Array.from({ length: 100 }, (_, at) => representation(number * 100 + at)) });
    },
    data: (number) => ({ _entities: Array.from({ length: 100 }, (_, at) => sealedRecord(number * 100 + at)) }),
  },
  new: named('the full query for one token, each time under a new name', (number) => `New${digits(number)}`),
  rotation: {
    ...named(
      `the full query for one token, ${ROTATING_DOCUMENTS} names in rotation`,
      (number) => `Same${digits(number % ROTATING_DOCUMENTS)}`,
    ),
    primeRequests: ROTATING_DOCUMENTS * SENT_BEFORE,
  },
  'new-fields': aliased(
    'the full query for one token, each time with another field',
    (number) => `new${digits(number)}`,
  ),
  'rotation-fields': {
    ...aliased(
      `the full query for one token, ${ROTATING_DOCUMENTS} documents with different fields in rotation`,
      (number) => `same${digits(number % ROTATING_DOCUMENTS)}`,
    ),
    primeRequests: ROTATING_DOCUMENTS * SENT_BEFORE,
  },
  invalid: {
    title: 'a document with an unknown field, always the same',
    connections: MANY,
    body: (number) => invalid({ token: token(number) }),
    status: 400,
    data: () => undefined,
    errors: ['GRAPHQL_VALIDATION_FAILED'],
  },
  'good-references': references('_entities: 10 references to good tokens', UNDECIDED, 10, undecided),
  'rejected-references': {
    ...references('_entities: 10 references to rejected tokens', UNDECIDED, 10, () => null, 'rejected'),
    errors: Array.from({ length: 10 }, () => 'DEVICE_TOKEN_REJECTED'),
  },
} as const satisfies Record<string, Workload>;
