import { captchaPass, judgement, REJECTION } from './answers.ts';
import { CAPTCHA, ENTITIES, SINGLE, THREE_ROOTS } from './documents.ts';
import { lotNumber, type TokenKind, token } from './tokens.ts';

/** What is asked. Requests are numbered, and no two numbers share a token. */
export interface Workload {
  readonly title: string;
  /** Connections of the load generator, each with one request under way. */
  readonly connections: number;
  /** The request with this number, as JSON. */
  readonly body: (number: number) => string;
  /** The `data` of its answer. */
  readonly data: (number: number) => unknown;
}

/** Our server takes 512 upstream calls at once: four requests of 100 calls stay below that, and keep one core busy. */
const FEW = 4;
const MANY = 16;

const METADATA = { accountId: 'account-4711', ipAddrV4: '203.0.113.10' };

const request = (query: string) => {
  const head = `{"query":${JSON.stringify(query)},"variables":`;
  return (variables: Readonly<Record<string, unknown>>) => `${head}${JSON.stringify(variables)}}`;
};

function single(title: string, kind: TokenKind, answer: (number: number) => unknown): Workload {
  const bodyOf = request(SINGLE);
  return {
    title,
    connections: MANY,
    body: (number) => bodyOf({ token: token(number, kind), metadata: METADATA, eventType: 'checkout' }),
    data: (number) => ({ deviceFingerprint: answer(number) }),
  };
}

/** `size` references to `distinct` tokens, each as often as the others. */
function entities(size: number, distinct: number): Workload {
  const bodyOf = request(ENTITIES);
  const numbersOf = (number: number) => Array.from({ length: size }, (_, at) => number * distinct + (at % distinct));
  const representation = (number: number) => ({ __typename: 'DeviceFingerprint', token: token(number) });
  return {
    title: `_entities: ${size} references to ${distinct} token${distinct > 1 ? 's' : ''}`,
    connections: FEW,
    body: (number) => bodyOf({ representations: numbersOf(number).map(representation) }),
    data: (number) => ({ _entities: numbersOf(number).map(judgement) }),
  };
}

const threeRoots = request(THREE_ROOTS);
const captcha = request(CAPTCHA);

/** Asked of every contender. */
export const WORKLOADS = {
  single: single('the full query for one token', 'judged', judgement),
  entities: entities(100, 100),
  repeated: entities(100, 10),
  captcha: {
    title: 'the captcha mutation',
    connections: MANY,
    body: (number) => {
      const proof = { captchaOutput: 'captcha-output-'.repeat(12), passToken: 'pass-token-'.repeat(6) };
      return captcha({ input: { lotNumber: lotNumber(number), ...proof, genTime: '1772353800' } });
    },
    data: (number) => ({ validateCaptcha: captchaPass(number) }),
  },
  roots: {
    title: 'three tokens in one operation',
    connections: MANY,
    body: (number) =>
      threeRoots({ first: token(number * 3), second: token(number * 3 + 1), third: token(number * 3 + 2) }),
    data: (number) => ({
      first: judgement(number * 3),
      second: judgement(number * 3 + 1),
      third: judgement(number * 3 + 2),
    }),
  },
  rejected: single('a token that is rejected', 'rejected', () => REJECTION),
} as const satisfies Record<string, Workload>;

/** The same question at four sizes, always with ten references a token; the number is that of the references. */
export const GROWTH: ReadonlyMap<number, Workload> = new Map([
  [1, entities(1, 1)],
  [10, entities(10, 1)],
  [100, entities(100, 10)],
  [1_000, entities(1_000, 100)],
]);

/** For latencies: the full query while the upstream takes its time, and what the upstream itself is asked for it. */
export const SLOW: Workload = { ...single('the full query, the upstream slow', 'slow', judgement), connections: 128 };
const DIRECT: Workload = {
  title: 'the upstream itself',
  connections: SLOW.connections,
  body: (number) => JSON.stringify({ device_token: token(number, 'slow') }),
  data: () => undefined,
};

/** Any workload by its name, which the load generator gets in its job. */
export function workloadNamed(name: string): Workload {
  const size = /^growth-(\d+)$/.exec(name)?.[1];
  const all: Readonly<Record<string, Workload>> = { ...WORKLOADS, slow: SLOW, direct: DIRECT };
  const workload = size === undefined ? all[name] : GROWTH.get(Number(size));
  if (!workload) throw new RangeError(`there is no workload ${name}`);
  return workload;
}
