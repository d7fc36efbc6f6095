import { expect, test } from 'vitest';
import { policyFile } from '../../src/fingerprint/policy.ts';
import { readMetrics } from '../observability/exposition.ts';
import { operationsOf, send, startSandboxed } from '../observability/support.ts';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';

/** Of good operations LOG_SAMPLE writes a share of the lines, and of all others every line. */

const riskPolicy = policyFile.parse(`{
  "rules": [
    { "id": "tried", "when": { "anyOf": ["EMULATOR"] }, "then": "DENY", "shadow": true },
    { "id": "refused", "when": { "anyOf": ["DEVICE_ROOTED"] }, "then": "DENY" }
  ],
  "otherwise": "ALLOW"
}`);
const decided = (signal: string) => ({
  query: `{ deviceFingerprint(token: "sandbox:android:${signal}") { ... on DeviceFingerprint { decision { action } } } }`,
});
const query = (...tokens: string[]) => ({ query: queryForTokens(tokens) });

test('LOG_SAMPLE=0: a good operation writes no line, but counts, and every other one writes a line that stands for itself alone', async () => {
  const quiet = await startSandboxed({ logSample: 0, fingerprintTimeoutMs: 60_000, riskPolicy });
  const passed = { input: await solveChallenge(quiet.sandboxUrls?.GLB ?? '') };
  await send(quiet, query('sandbox:web'));
  await send(quiet, decided('VPN_ENABLED'));
  await send(quiet, { query: '{ signalCatalogue { code } }' });
  await send(quiet, { query: CAPTCHA_MUTATION, variables: passed });
  expect(operationsOf(quiet)).toEqual([]);
  const { samples } = await readMetrics(quiet);
  const counts = samples.filter(({ name }) => name === 'device_trust_operation_duration_seconds_count');
  expect(counts.map(({ labels, value }) => [labels['field'], labels['outcome'], value])).toEqual([
    ['deviceFingerprint', 'ok', 2],
    ['signalCatalogue', 'ok', 1],
    ['validateCaptcha', 'ok', 1],
  ]);
  const slow = send(quiet, { query: `query Slow ${queryForTokens(['sandbox:delay:2000:web'])}` });
  const failed = { ...CAPTCHA_INPUT, lotNumber: 'sandbox:fail:expired' };
  const open = { outcomes: { CaptchaIndeterminate: 1 }, proceed: false };
  const others: [object, object][] = [
    [query('sandbox:error:500'), { errors: ['UPSTREAM_UNAVAILABLE'] }],
    [query('sandbox:web', 'sandbox:error:500'), { errors: ['UPSTREAM_UNAVAILABLE'] }],
    [{ query: '{' }, { errors: ['GRAPHQL_PARSE_FAILED'] }],
    [decided('DEVICE_ROOTED'), { decision: 'DENY', rule: 'refused' }],
    [decided('EMULATOR'), { decision: 'ALLOW', shadow: 'tried' }],
    [query('made-up'), { outcomes: { DeviceFingerprintRejected: 1 } }],
    [
      { query: CAPTCHA_MUTATION, variables: { input: failed } },
      { outcomes: { CaptchaFailed: 1 }, proceed: false },
    ],
    [{ query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } }, open],
  ];
  for (const [body] of others) await send(quiet, body);
  await slow;
  const isSlow = ({ operation }: Readonly<Record<string, unknown>>) => operation === 'Slow';
  const lines = operationsOf(quiet);
  expect(lines.filter(isSlow)).toMatchObject([{ outcomes: { DeviceFingerprint: 1 } }]);
  expect(lines.filter((line) => !isSlow(line))).toMatchObject(others.map(([, expected]) => expected));
  for (const line of lines) expect(line).not.toHaveProperty('sample');
});

test('LOG_SAMPLE=0.5: about half of the good operations write a line that says so', async () => {
  const half = await startSandboxed({ logSample: 0.5 });
  for (let round = 0; round < 400; round += 1) await send(half, { query: '{ __typename }' });
  const lines = operationsOf(half);
  // Less than one run in a million leaves these bounds.
  expect(lines.length).toBeGreaterThan(200 - 50);
  expect(lines.length).toBeLessThan(200 + 50);
  for (const line of lines) expect(line).toMatchObject({ sample: 0.5 });
});
