/** What the warm-up asks: every field and entity of the schema, and each outcome that a request of its own can bring about. */

/** A request as a client sends it. */
export interface WarmUpRequest {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Whom the captcha is attested to, and for what. */
export const AUDIENCE = { audience: 'warm-up', action: 'warm-up' } as const;

const JUDGED = `
  publicKey requestId eventId version clientType device { id } ipInfo { ip }
  deviceBasic {
    __typename
    ... on Mobile { os { name version additional } architecture model }
    ... on Web {
      browser { name version major additional }
      device { model vendor additional }
      os { name version additional }
    }
  }
  signals { name code level confidence effect meaning }
  decision { action rule policy }
`;

const LOOKUP = `query WarmUp($token: String!, $metadata: DeviceMetadataInput, $eventType: String) {
  deviceFingerprint(token: $token, metadata: $metadata, eventType: $eventType) {
    __typename
    ... on DeviceFingerprint { token ...Judged judgement { sealed } }
    ... on DeviceFingerprintRejected { reason errors { field reason type } }
  }
}
fragment Judged on DeviceFingerprint { ${JUDGED} }`;

const REFERENCES = `query WarmUp($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on DeviceFingerprint { ${JUDGED} }
    ... on DeviceJudgement { judgedAt subject eventType ${JUDGED} }
  }
}`;

const CAPTCHA = `mutation WarmUp($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) {
    __typename proceed attestation
    ... on CaptchaPassed { details { usedType userIp lotNumber scene referer } }
    ... on CaptchaFailed { reason category details { usedType userIp lotNumber } }
    ... on CaptchaIndeterminate { cause code type message }
  }
}`;

const CATALOGUE = 'query WarmUp { signalCatalogue { code level confidence effect meaning } }';
const SDL = 'query WarmUp { _service { sdl } }';
const INVALID = 'query WarmUp { nothing }';

/** What the requests of a round need from the instance that answers them. */
interface Values {
  /** A sealed judgement, if there is one yet. */
  readonly sealed: string;
  /** The values of a solved captcha, with the names of the captcha service. */
  readonly challenge: unknown;
  /** Does the instance attest captchas? */
  readonly attests: boolean;
}

/**
 * The requests of one round. Each has a document that is new, as those of the first callers are. What is asked most often also
 * comes with a document that stays the same, so that it is compiled and then executed as compiled code.
 */
export function requestsOf(round: number, { sealed, challenge, attests }: Values): readonly WarmUpRequest[] {
  const metadata = { accountId: 'warm-up', additional: { warm: 'up' } };
  const device = (token: string) => ({ __typename: 'DeviceFingerprint', token });
  const judgement = { __typename: 'DeviceJudgement', sealed };
  const captcha = inputOf(challenge);
  const lookup = {
    query: LOOKUP,
    variables: { token: 'sandbox:android:EMULATOR,VPN_ENABLED', metadata, eventType: 'warm-up' },
  };
  const references = {
    query: REFERENCES,
    variables: { representations: [device('sandbox:ios'), device('sandbox:web:INCOGNITO'), judgement] },
  };
  const passed = { query: CAPTCHA, variables: { input: { ...captcha, ...(attests && AUDIENCE) } } };
  const failed = { query: CAPTCHA, variables: { input: { ...captcha, lotNumber: 'sandbox:fail:pass_token expire' } } };
  const rejected = { query: LOOKUP, variables: { token: 'warm-up' } };
  const fresh = [
    lookup,
    rejected,
    references,
    passed,
    failed,
    { query: CATALOGUE },
    { query: SDL },
    { query: INVALID },
  ];
  // A comment makes it another document. Another name would not: it is no part of what the document cache compares.
  return [
    ...fresh.map((request) => ({ ...request, query: `${request.query} # ${round}` })),
    lookup,
    references,
    failed,
  ];
}

function inputOf(challenge: unknown) {
  const { lot_number, captcha_output, pass_token, gen_time } = Object(challenge);
  return { lotNumber: lot_number, captchaOutput: captcha_output, passToken: pass_token, genTime: gen_time };
}
