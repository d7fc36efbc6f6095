import { CONTENDERS, FLOOR_NAME, MERCURIUS_NAME, OURS_NAME, WITHOUT_SCOPES_NAME } from './contenders.ts';
import { GROWTH, WORKLOADS } from './workloads.ts';

/** What is measured in the same rounds, because it is compared with each other. */
interface Group {
  readonly title: string;
  /** Who is asked what. */
  readonly series: readonly (readonly [contender: string, workload: string])[];
  /** Is a goal that a quick run shows about it? */
  readonly isQuick: boolean;
}

const everyone = CONTENDERS.map(({ name }) => name).filter((name) => name !== WITHOUT_SCOPES_NAME);

/** A workload that everyone is asked. */
const asked = (workload: keyof typeof WORKLOADS, isQuick = true): Group => ({
  title: WORKLOADS[workload].title,
  series: everyone.map((contender) => [contender, workload] as const),
  isQuick,
});

const own = (title: string, isQuick: boolean, ...workloads: readonly string[]): Group => ({
  title,
  series: workloads.map((workload) => [OURS_NAME, workload] as const),
  isQuick,
});

/** In this order. Those that fill the cache of documents come last. */
export const GROUPS: Readonly<Record<string, Group>> = {
  single: asked('single'),
  entities: asked('entities'),
  repeated: asked('repeated'),
  captcha: asked('captcha'),
  roots: asked('roots', false),
  rejected: asked('rejected'),
  attestation: own('a captcha without and with its attestation', true, 'captcha', 'attested'),
  sealed: own('100 references to sealed judgements', true, 'sealed'),
  decision: own('100 devices without and with their decisions', false, 'undecided', 'decided'),
  scopes: {
    title: 'the full query for one token, with scopes and without them',
    series: [OURS_NAME, WITHOUT_SCOPES_NAME].map((contender) => [contender, 'single'] as const),
    isQuick: false,
  },
  references: own('10 references to good and to rejected tokens', false, 'good-references', 'rejected-references'),
  growth: {
    title: 'references, ten a token: CPU of a request',
    series: [OURS_NAME, FLOOR_NAME].flatMap((contender) =>
      GROWTH.map((size) => [contender, `growth-${size}`] as const),
    ),
    isQuick: false,
  },
  invalid: own('an invalid document, from the second time on', true, 'invalid'),
  rotation: own('one document, and 5,000 in rotation', false, 'single', 'rotation', 'rotation-fields'),
  new: {
    title: 'documents that never come again',
    series: [OURS_NAME, MERCURIUS_NAME].flatMap((contender) =>
      ['new', 'new-fields'].map((workload) => [contender, workload] as const),
    ),
    isQuick: false,
  },
};
