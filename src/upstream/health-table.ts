/**
 * The health of an account:
 * - `unknown`: no probe has shown anything yet, or the last one was inconclusive.
 * - `well`: its last response was documented and did not blame us.
 * - `refused`: the service refuses the account, or its address or certificate is wrong.
 * - `outage`: our own probes have confirmed that the service is down.
 */
export const HEALTH_STATES = ['unknown', 'well', 'refused', 'outage'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/**
 * The evidence of one probe or call. A call changes the health only with `well`.
 * - `well`: a documented response that does not blame us.
 * - `refused`: a response that blames our account, address or certificates.
 * - `no_such_host`: the look-up says that the host does not exist.
 * - `failed`: a failure as in an outage.
 * - `limited`: a 429. A service that limits us is not down.
 * - `inconclusive`: another response, such as an unreadable one.
 * - `local_failure`: anything that this process or its machine may have caused.
 */
export type Evidence = 'well' | 'refused' | 'no_such_host' | 'failed' | 'limited' | 'inconclusive' | 'local_failure';

export interface HealthStatus {
  readonly state: HealthState;
  /** Has the account worked in this process? Until then its failures may be due to our configuration. */
  readonly hasWorked: boolean;
  /** Have neither probes nor calls shown anything yet? */
  readonly isNew: boolean;
  /** The problem, for the log; empty if there is none. If the service answered with an exception, its code. */
  readonly reason: string;
  readonly isHostUnknown: boolean;
  readonly outages: number;
  /** Evidence of the last probe that counts only if the next one confirms it. */
  readonly pending: 'failed' | 'inconclusive' | undefined;
}

export const NEW_ACCOUNT: HealthStatus = {
  state: 'unknown',
  hasWorked: false,
  isNew: true,
  reason: '',
  isHostUnknown: false,
  outages: 0,
  pending: undefined,
};

type Row = Readonly<Partial<Record<HealthState, HealthState>>>;

const always = (state: HealthState): Row => ({ unknown: state, well: state, refused: state, outage: state });

/** The next state for each state, after evidence or after the same evidence twice in a row. A state that is not listed stays. */
const NEXT: Readonly<Record<Exclude<Evidence, 'no_such_host'> | 'failed twice' | 'inconclusive twice', Row>> = {
  well: always('well'),
  refused: always('refused'),
  failed: {},
  'failed twice': always('outage'),
  limited: { unknown: 'unknown', refused: 'refused', outage: 'unknown' },
  inconclusive: { unknown: 'unknown' },
  // An outage lasts only as long as probes confirm it, and so does the reason of a refusal.
  'inconclusive twice': { unknown: 'unknown', refused: 'refused', outage: 'unknown' },
  // A failure of our own neither confirms an outage nor ends one.
  local_failure: { unknown: 'unknown' },
};

/** The status after one more piece of evidence: pure, and without a clock. */
export function statusAfter(before: HealthStatus, given: Evidence, reason = ''): HealthStatus {
  // An account that has worked had a host, so a host that is gone is an outage.
  const evidence = given === 'no_such_host' ? (before.hasWorked ? 'failed' : 'refused') : given;
  const isPending = evidence === 'failed' || evidence === 'inconclusive';
  const pending = isPending ? evidence : evidence === 'local_failure' ? before.pending : undefined;
  const row = isPending && before.pending === evidence ? NEXT[`${evidence} twice`] : NEXT[evidence];
  const state = row[before.state];
  if (state === undefined) return { ...before, pending };
  return {
    state,
    hasWorked: before.hasWorked || state === 'well',
    isNew: before.isNew && evidence === 'local_failure',
    reason,
    isHostUnknown: given === 'no_such_host',
    outages: before.outages + Number(state === 'outage' && before.state !== 'outage'),
    pending,
  };
}
