import { expect, test } from 'vitest';
import {
  type Evidence,
  HEALTH_STATES,
  type HealthState,
  NEW_ACCOUNT,
  statusAfter,
} from '../../src/upstream/health-table.ts';

/** What follows from each evidence in each state, cell by cell. */

const [UNKNOWN, HEALTHY_PROBE, REFUSED, OUTAGE] = HEALTH_STATES;

/** The evidences that come one after the other; then the next state for each state, for an account that has worked. */
const TABLE: readonly (readonly [Evidence[], Readonly<Record<HealthState, HealthState>>])[] = [
  [['well'], { unknown: HEALTHY_PROBE, well: HEALTHY_PROBE, refused: HEALTHY_PROBE, outage: HEALTHY_PROBE }],
  [['refused'], { unknown: REFUSED, well: REFUSED, refused: REFUSED, outage: REFUSED }],
  [['failed'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: OUTAGE }],
  [['failed', 'failed'], { unknown: OUTAGE, well: OUTAGE, refused: OUTAGE, outage: OUTAGE }],
  [['failed', 'inconclusive', 'failed'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: OUTAGE }],
  [['failed', 'local_failure', 'failed'], { unknown: OUTAGE, well: OUTAGE, refused: OUTAGE, outage: OUTAGE }],
  [['no_such_host'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: OUTAGE }],
  [['no_such_host', 'no_such_host'], { unknown: OUTAGE, well: OUTAGE, refused: OUTAGE, outage: OUTAGE }],
  [['no_such_host', 'failed'], { unknown: OUTAGE, well: OUTAGE, refused: OUTAGE, outage: OUTAGE }],
  [['inconclusive'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: OUTAGE }],
  [['inconclusive', 'inconclusive'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: UNKNOWN }],
  [
    ['inconclusive', 'failed', 'inconclusive'],
    { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: OUTAGE },
  ],
  // A service that limits us is not down.
  [['limited'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: UNKNOWN }],
  [['failed', 'limited', 'failed'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: UNKNOWN }],
  [['local_failure'], { unknown: UNKNOWN, well: HEALTHY_PROBE, refused: REFUSED, outage: OUTAGE }],
];
const CELLS = TABLE.flatMap(([shown, next]) =>
  HEALTH_STATES.map((state) => [shown.join(' + '), state, next[state], shown] as const),
);

test.each(CELLS)('%s in the state %s leads to %s', (_shown, state, next, shown) => {
  const before = { ...NEW_ACCOUNT, state, hasWorked: true };
  const after = shown.reduce((status, evidence) => statusAfter(status, evidence), before);
  expect(after).toMatchObject({ state: next, hasWorked: true, outages: Number(next === OUTAGE && state !== OUTAGE) });
});

test.each<[Evidence, HealthState, HealthState, string | undefined]>([
  ['no_such_host', REFUSED, OUTAGE, 'mistake'],
  ['undocumented_refusal', REFUSED, UNKNOWN, 'undocumented'],
  ['unknown_account', REFUSED, REFUSED, 'mistake'],
  ['withdrawn', REFUSED, REFUSED, 'withdrawn'],
  ['refused', REFUSED, REFUSED, 'mistake'],
])('%s means something else once the account has worked', (evidence, first, later, refusal) => {
  expect(statusAfter(NEW_ACCOUNT, evidence)).toMatchObject({ state: first, hasWorked: false, refusal });
  const worked = { ...NEW_ACCOUNT, hasWorked: true };
  const after = statusAfter(statusAfter(worked, evidence), evidence);
  expect(after.state).toBe(later);
  if (evidence === 'unknown_account') expect(after.refusal).toBe('withdrawn');
});

test('a refusal that probes no longer confirm takes no account that has worked out of the count', () => {
  for (const evidence of ['refused', 'withdrawn'] as const) {
    const refused = statusAfter(statusAfter(NEW_ACCOUNT, 'well'), evidence);
    expect(refused.refusal).toBeDefined();
    expect(statusAfter(refused, 'limited').refusal).toBeUndefined();
    expect(statusAfter(statusAfter(refused, 'inconclusive'), 'inconclusive').refusal).toBeUndefined();
  }
});

test('an account works from its first good response on', () => {
  const late = statusAfter(NEW_ACCOUNT, 'local_failure', 'late');
  expect(late).toMatchObject({ state: UNKNOWN, hasWorked: false, reason: 'late' });
  expect(statusAfter(late, 'inconclusive', 'limit')).toMatchObject({ reason: 'limit', hasWorked: false });
  expect(statusAfter(late, 'well')).toMatchObject({ reason: '', hasWorked: true });
});

test('the reason is that of what has changed the state, or of the newest that confirms it', () => {
  const down = statusAfter(statusAfter(NEW_ACCOUNT, 'failed', 'a'), 'failed', 'b');
  expect(down.reason).toBe('b');
  expect(statusAfter(down, 'inconclusive', 'c').reason).toBe('b');
  expect(statusAfter(statusAfter(down, 'failed', 'd'), 'failed', 'e').reason).toBe('e');
  // A refusal that probes no longer confirm stays one, but no reason of the service is known any more.
  const refused = statusAfter(NEW_ACCOUNT, 'refused', 'a');
  expect(statusAfter(refused, 'limited', 'b').reason).toBe('b');
  expect(statusAfter(statusAfter(refused, 'inconclusive', 'b'), 'inconclusive', 'c').reason).toBe('c');
});
