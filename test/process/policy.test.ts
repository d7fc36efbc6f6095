import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { MAIN, startProcess, type TestProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';

/** A risk policy in a file: read at the start, and again when it changes. */

const open: { child?: TestProcess; folder?: string } = {};
afterEach(async () => {
  await open.child?.stop();
  if (open.folder) await rm(open.folder, { recursive: true });
});

async function startWith(text: string) {
  open.folder = await mkdtemp(join(tmpdir(), 'policy-'));
  const path = join(open.folder, 'policy.json');
  /** In one step, as a mounted file changes. */
  const put = async (next: string) => {
    await writeFile(`${path}.next`, next);
    await rename(`${path}.next`, path);
  };
  await put(text);
  const child = startProcess(MAIN, {
    ...{ UPSTREAM_MODE: 'sandbox', PORT: '0', SANDBOX_PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '0' },
    RISK_POLICY_FILE: path,
  });
  open.child = child;
  return { child, put, remove: () => rm(path) };
}

const policyOf = (action: string, id: string) =>
  `{"rules":[{"id":"${id}","when":{"anyOf":["EMULATOR"]},"then":"${action}"}],"otherwise":"ALLOW"}`;
const QUERY = `{ deviceFingerprint(token: "sandbox:android:EMULATOR") {
  ... on DeviceFingerprint { decision { action rule policy } }
} }`;

test('a broken policy refuses to start, with every mistake', async () => {
  const { child } = await startWith('{"rules":[{"id":"a","when":{"anyOf":["EMULATER"]},"then":"BLOCK"}]}');
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  expect(child.stderr()).toBe(
    'The configuration has to be corrected:\n' +
      '  RISK_POLICY_FILE: rules.0.when.anyOf.0: expected the code of a documented signal, but got "EMULATER".\n' +
      '  RISK_POLICY_FILE: rules.0.then: expected ALLOW, CHALLENGE or DENY, but got "BLOCK".\n' +
      '  RISK_POLICY_FILE: otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.\n',
  );
}, 20_000);

test('a changed policy decides without a restart; a broken one is logged once and changes nothing', async () => {
  const { child, put, remove } = await startWith(policyOf('DENY', 'first'));
  const [, graphqlUrl = ''] = await child.waitFor(/Device trust is at (\S+),/);
  const decision = async () => {
    const { data, errors } = await ask(graphqlUrl, QUERY);
    expect(errors).toBeUndefined();
    return data.deviceFingerprint.decision;
  };
  const written = (text: string) => child.stdout().split(text).length - 1;
  const becomes = (action: string, rule: string) =>
    expect.poll(decision, { timeout: 8_000 }).toMatchObject({ action, rule });

  const first = await decision();
  expect(first).toMatchObject({ action: 'DENY', rule: 'first' });
  await put(policyOf('CHALLENGE', 'second'));
  await becomes('CHALLENGE', 'second');
  expect(await decision()).not.toMatchObject({ policy: first.policy });

  const KEPT = 'the new risk policy cannot be used; the old one stays in use';
  await put(policyOf('BLOCK', 'third'));
  await child.waitFor(new RegExp(KEPT));
  expect(child.stdout()).toContain('rules.0.then: expected ALLOW, CHALLENGE or DENY, but got ');
  // Two more readings, in which nothing may happen.
  await setTimeout(4_500);
  expect([written(KEPT), written('risk policy replaced')]).toEqual([1, 1]);
  expect(await decision()).toMatchObject({ action: 'CHALLENGE', rule: 'second' });

  await remove();
  await expect.poll(() => written(KEPT), { timeout: 8_000 }).toBe(2);
  expect(await decision()).toMatchObject({ rule: 'second' });
  await put(policyOf('ALLOW', 'fourth'));
  await becomes('ALLOW', 'fourth');
}, 60_000);
