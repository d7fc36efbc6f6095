import { describe, expect, test } from 'vitest';
import { CANARY, LIVE, parse, problemsOf } from './support.ts';

/** Who may ask is said in the configuration, one way or the other. */

describe('who may ask', () => {
  const { ALLOW_DIRECT_ACCESS: _, ...rest } = LIVE;
  const secretsOf = (text: string) => parse({ ...rest, ROUTER_SECRETS: text }).routerSecrets;
  const LIST = 'a comma-separated list of 1 to 8 secrets, each of 16 to 256 visible ASCII characters';

  test('live mode refuses to start without a word about it, and with two', () => {
    const sentence = (got: string) =>
      `ROUTER_SECRETS: expected either ${LIST}, or ALLOW_DIRECT_ACCESS=true, but got ${got}.`;
    expect(problemsOf(rest)).toEqual([sentence('neither')]);
    expect(problemsOf({ ...rest, ALLOW_DIRECT_ACCESS: 'false' })).toEqual([sentence('neither')]);
    expect(problemsOf({ ...LIVE, ROUTER_SECRETS: 'secret-of-the-router' })).toEqual([sentence('both')]);
  });

  test('one secret, or two while they are rotated', () => {
    expect(secretsOf('secret-of-the-router')).toEqual(['secret-of-the-router']);
    expect(secretsOf('the-old-router-secret, the-new-router-secret')).toEqual([
      'the-old-router-secret',
      'the-new-router-secret',
    ]);
    const fromFile = problemsOf({ ...rest, ROUTER_SECRETS_FILE: '/s' }, { '/s': 'secret-of-the-router\n' });
    expect(fromFile).toEqual([]);
  });

  test.each([
    ['too short', CANARY],
    ['an empty one among them', `secret-of-the-router,,${CANARY}-${CANARY}`],
    ['with a space inside', `secret of the router ${CANARY}`],
    ['nine of them', Array(9).fill(`${CANARY}-${CANARY}`).join()],
  ])('%s', (_what, text) => {
    const problems = problemsOf({ ...rest, ROUTER_SECRETS: text });
    expect(problems).toEqual([expect.stringContaining(`ROUTER_SECRETS: expected ${LIST}, but got`)]);
    expect(problems.join()).not.toContain(CANARY);
  });

  test('the sandbox may be guarded, and need not be', () => {
    const guarded = parse({ UPSTREAM_MODE: 'sandbox', ROUTER_SECRETS: 'secret-of-the-router' });
    expect(guarded.routerSecrets).toEqual(['secret-of-the-router']);
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox' })).toEqual([]);
  });
});
