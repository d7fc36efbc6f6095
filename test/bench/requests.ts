import { CAPTCHA_MUTATION, FINGERPRINT_FIELDS, JUDGED_FRAGMENT } from '../support/graphql.ts';

/** A kind of request. Requests are numbered, and no two numbers share a token. */
export interface Workload {
  /** On the command line, and in the table. */
  readonly name: string;
  readonly title: string;
  /** Connections of the load generator, each with one request under way. */
  readonly connections: number;
  /** The request with this number, as JSON. */
  readonly body: (number: number) => string;
  /** The `data` of its answer. The order of the keys counts: answers are compared as text. */
  readonly data: (number: number) => unknown;
}

const REFERENCES = 100;

/** The number of a token or a challenge as it stands in questions and answers: always 12 digits. */
const digits = (number: number) => String(number).padStart(12, '0');
const token = (number: number) => `judged-${digits(number)}`;
const lotNumber = (number: number) => `5bd58ee1c0a44f6e9d37${digits(number)}`;

/** Writes requests with this document on one line, which is how routers write. Like theirs it never changes; the variables do. */
function requestOf(document: string): (variables: Readonly<Record<string, unknown>>) => string {
  const head = `{"query":${JSON.stringify(document.replaceAll(/\s+/g, ' ').trim())},"variables":`;
  return (variables) => `${head}${JSON.stringify(variables)}}`;
}

const single = requestOf(`
  query Judge($token: String!, $metadata: DeviceMetadataInput, $eventType: String) {
    deviceFingerprint(token: $token, metadata: $metadata, eventType: $eventType) { ${FINGERPRINT_FIELDS} }
  }
  ${JUDGED_FRAGMENT}
`);
const captcha = requestOf(CAPTCHA_MUTATION);
const entities = requestOf(`
  query Entities($representations: [_Any!]!) {
    _entities(representations: $representations) { __typename ...Judged }
  }
  ${JUDGED_FRAGMENT}
`);

/** What the page knows about the person; what the edge knows is in the headers. */
const METADATA = { accountId: 'account-4711', ja4: 't13d1516h2_8daaf6152771_b186095e22b6' };
const PROOF = {
  captchaOutput: 'captcha-output-'.repeat(12),
  passToken: 'pass-token-'.repeat(6),
  genTime: '1772353800',
};

/** What the answer to the judgement of a token has to be, written out by hand. */
function judgement(number: number) {
  return {
    __typename: 'DeviceFingerprint',
    publicKey: 'pk_bench',
    requestId: `req_01943f2a-6c1e-7a40-9c31-${digits(number)}`,
    eventId: `evt_0195a7d0-13b2-7c55-8f02-${digits(number)}`,
    version: '1.0',
    clientType: 'ANDROID',
    device: { id: `6f1c0e5b8a7d4c3e9b2a1f0d8c7b6a5f4e3d2c1b0a9f8e7d6c5b${digits(number)}` },
    deviceBasic: {
      __typename: 'Mobile',
      os: { name: 'Android', version: '15', additional: null },
      architecture: 'arm64-v8a',
      model: 'Pixel 8',
    },
    ipInfo: { ip: '203.0.113.10' },
    signals: [
      signal('EMULATOR', 'HIGH', 0.95, 'RISK', 'The device is an emulator of an older kind.'),
      signal('NETWORK_PROXY', 'MEDIUM', 1, 'RISK', 'A network proxy is switched on.'),
      signal('VPN_ENABLED', 'LOW', 1, 'RISK', 'A VPN is switched on.'),
      signal('DEVICE_ROOTED', 'HIGH', 1, 'RISK', 'The Android device is rooted.'),
      signal('WHITELIST_IP', 'HIGH', 1, 'DENY', 'The IP address is on your blacklist, in spite of the name.'),
      signal('SYSTEM_VERSION_TOO_LOW', 'MEDIUM', 0.6, 'RISK', 'The operating system is very old.'),
    ],
  };
}

function signal(name: string, level: string, confidence: number, effect: string, meaning: string) {
  return { name, code: name, level, confidence, effect, meaning };
}

const questionAbout = (number: number) => single({ token: token(number), metadata: METADATA, eventType: 'checkout' });
const reference = (number: number) => ({ __typename: 'DeviceFingerprint', token: token(number) });
const numbersOf = (number: number) => Array.from({ length: REFERENCES }, (_, at) => number * REFERENCES + at);

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'token',
    title: 'one token',
    connections: 16,
    body: questionAbout,
    data: (number) => ({ deviceFingerprint: judgement(number) }),
  },
  {
    name: 'document',
    title: 'a new document',
    connections: 16,
    // As a client without fixed documents sends it: no server has seen this one, nor will it see it again.
    body: (number) => questionAbout(number).replaceAll('Judged', `Judged${number}`),
    data: (number) => ({ deviceFingerprint: judgement(number) }),
  },
  {
    name: 'captcha',
    title: 'a captcha',
    connections: 16,
    body: (number) => captcha({ input: { lotNumber: lotNumber(number), ...PROOF } }),
    data: (number) => ({
      validateCaptcha: {
        __typename: 'CaptchaPassed',
        proceed: true,
        details: {
          usedType: 'slide',
          userIp: '203.0.113.40',
          lotNumber: lotNumber(number),
          scene: 'login',
          referer: 'https://shop.example/login',
        },
      },
    }),
  },
  {
    name: 'references',
    title: `${REFERENCES} references`,
    // Our server makes 512 upstream calls at once: four requests stay below that, and keep one core busy.
    connections: 4,
    body: (number) => entities({ representations: numbersOf(number).map(reference) }),
    data: (number) => ({ _entities: numbersOf(number).map(judgement) }),
  },
];
