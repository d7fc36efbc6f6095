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
 * What one response, or its absence, shows. A call changes the health only with `well`: a client can provoke nearly all else.
 * - `well`: a documented response that does not blame us.
 * - `answered`: a documented response that needs no credentials, or that an edge may give for a service that is down. For a probe it
 *   is `well`, because no client can provoke it.
 * - `refused`: a documented refusal of our credentials.
 * - `unknown_account`, `withdrawn`: the service says that it does not know the account, or has deleted or paused it.
 * - `no_such_host`: the look-up says that the host does not exist.
 * - `undocumented_refusal`: an untrusted certificate, or a new code about our account.
 * - `failed`: a failure as in an outage.
 * - `limited`: a 429. A service that limits us is not down.
 * - `inconclusive`: another response, such as an unreadable one.
 * - `local_failure`: anything that this process or its machine may have caused.
 */
export type Evidence =
  | 'well'
  | 'answered'
  | 'refused'
  | 'unknown_account'
  | 'withdrawn'
  | 'no_such_host'
  | 'undocumented_refusal'
  | 'failed'
  | 'limited'
  | 'inconclusive'
  | 'local_failure';

/** Evidence about a mistake of the configuration. An account that has worked had no such mistake, so it then means something else. */
const ONCE_WORKED: Readonly<Partial<Record<Evidence, Evidence>>> = {
  unknown_account: 'withdrawn',
  no_such_host: 'failed',
  undocumented_refusal: 'inconclusive',
};

const REFUSALS: Readonly<Partial<Record<Evidence, HealthStatus['refusal']>>> = {
  refused: 'mistake',
  unknown_account: 'mistake',
  no_such_host: 'mistake',
  withdrawn: 'withdrawn',
  undocumented_refusal: 'undocumented',
};

export interface HealthStatus {
  readonly state: HealthState;
  /** Has the account worked in this process? Until then its failures may be due to our configuration. */
  readonly hasWorked: boolean;
  /** The problem, for the log; empty if there is none. */
  readonly reason: string;
  readonly isHostUnknown: boolean;
  /** Why it is `refused`, as long as probes confirm it. A certificate or a code may be a firewall's, which a client can provoke. */
  readonly refusal: 'mistake' | 'withdrawn' | 'undocumented' | undefined;
  readonly outages: number;
  /** Evidence of the last probe that counts only if the next one confirms it. */
  readonly pending: 'failed' | 'inconclusive' | undefined;
}

export const NEW_ACCOUNT: HealthStatus = {
  state: 'unknown',
  hasWorked: false,
  reason: '',
  isHostUnknown: false,
  refusal: undefined,
  outages: 0,
  pending: undefined,
};

type Row = Readonly<Partial<Record<HealthState, HealthState>>>;

const always = (state: HealthState): Row => ({ unknown: state, well: state, refused: state, outage: state });

/** The next state for each state, after evidence or after the same evidence twice in a row. A state that is not listed stays. */
const NEXT: Readonly<Record<Evidence | 'failed twice' | 'inconclusive twice', Row>> = {
  well: always('well'),
  answered: always('well'),
  refused: always('refused'),
  unknown_account: always('refused'),
  withdrawn: always('refused'),
  no_such_host: always('refused'),
  undocumented_refusal: always('refused'),
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
  const evidence = before.hasWorked ? (ONCE_WORKED[given] ?? given) : given;
  const isPending = evidence === 'failed' || evidence === 'inconclusive';
  const pending = isPending ? evidence : evidence === 'local_failure' ? before.pending : undefined;
  const row = isPending && before.pending === evidence ? NEXT[`${evidence} twice`] : NEXT[evidence];
  const state = row[before.state];
  if (state === undefined) return { ...before, pending };
  return {
    state,
    hasWorked: before.hasWorked || state === 'well',
    reason,
    isHostUnknown: given === 'no_such_host',
    refusal: REFUSALS[evidence],
    outages: before.outages + Number(state === 'outage' && before.state !== 'outage'),
    pending,
  };
}
