import { captchaPass, judgement, REJECTION } from './answers.ts';
import { CAPTCHA, ENTITIES, SINGLE, THREE_ROOTS } from './documents.ts';
import { OWN_WORKLOADS } from './own-workloads.ts';
import { lotNumber, type TokenKind, token } from './tokens.ts';
import { FEW, MANY, requestOf, type Workload } from './workload.ts';

/** What the page knows about the person; what the edge knows is in the headers. */
const METADATA = { accountId: 'account-4711', ja4: 't13d1516h2_8daaf6152771_b186095e22b6' };

function single(title: string, kind: TokenKind, answer: (number: number) => unknown): Workload {
  const bodyOf = requestOf(SINGLE);
  return {
    title,
    connections: MANY,
    body: (number) => bodyOf({ token: token(number, kind), metadata: METADATA, eventType: 'checkout' }),
    data: (number) => ({ deviceFingerprint: answer(number) }),
  };
}

/** `size` references to `distinct` tokens, each as often as the others. */
function entities(size: number, distinct: number): Workload {
  const bodyOf = requestOf(ENTITIES);
  const numbersOf = (number: number) => Array.from({ length: size }, (_, at) => number * distinct + (at % distinct));
  const representation = (number: number) => ({ __typename: 'DeviceFingerprint', token: token(number) });
  return {
    title: `_entities: ${size} references to ${distinct} token${distinct > 1 ? 's' : ''}`,
    connections: FEW,
    body: (number) => bodyOf({ representations: numbersOf(number).map(representation) }),
    data: (number) => ({ _entities: numbersOf(number).map(judgement) }),
  };
}

const threeRoots = requestOf(THREE_ROOTS);
const captcha = requestOf(CAPTCHA);

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

/** The numbers of references of the workloads about growth, always with ten references a token. */
export const GROWTH = [1, 10, 100, 1_000] as const;
const growth = new Map(GROWTH.map((size) => [`growth-${size}`, entities(size, Math.ceil(size / 10))]));

/** For latencies: the full query while the upstream takes its time, and what the upstream itself is asked for it. */
export const SLOW: Workload = { ...single('the full query, the upstream slow', 'slow', judgement), connections: 128 };
const DIRECT: Workload = {
  title: 'the upstream itself',
  connections: SLOW.connections,
  body: (number) => JSON.stringify({ device_token: token(number, 'slow') }),
  data: () => undefined,
};

const ALL: ReadonlyMap<string, Workload> = new Map<string, Workload>([
  ...Object.entries(WORKLOADS),
  ...Object.entries(OWN_WORKLOADS),
  ...growth,
  ['slow', SLOW],
  ['direct', DIRECT],
]);

/** Any workload by its name, which the load generator gets in its job. Throws if there is none. */
export function workloadNamed(name: string): Workload {
  const workload = ALL.get(name);
  if (!workload) throw new RangeError(`there is no workload ${name}`);
  return workload;
}
