import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import given from '../fixtures/configuration-0.2.0.json' with { type: 'json' };
import { MAIN, startProcess } from '../support/process.ts';
import { objectsOn } from './environments.ts';

/** Every variable of version 0.2.0, with its default or an example; those without a text here have keys or a file. */

test('the configuration of 0.2.0 starts, and the log names what of it has no effect, and what is on and off', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const RISK_POLICY_FILE = join(folder, 'policy.json');
  await writeFile(
    RISK_POLICY_FILE,
    '{"rules":[{"id":"a","when":{"effect":"DENY"},"then":"DENY"}],"otherwise":"ALLOW"}',
  );
  const child = startProcess(MAIN, {
    ...given,
    RISK_POLICY_FILE,
    SEALING_KEYS: JSON.stringify([newSealingKey()]),
    ATTESTATION_KEYS: JSON.stringify([generateKey('active')]),
  });
  onTestFinished(child.stop);
  await child.waitFor(/"callers: .*\n/);
  const lines = objectsOn(child.stdout());

  const known: readonly string[] = Object.values(VARIABLES).map(({ name }) => name);
  const gone = Object.keys(given).filter((name) => !known.includes(name));
  expect(gone).toHaveLength(9);
  const [{ problems } = { problems: [] }, ...others] = lines.filter(
    ({ level, problems }) => level === 'warn' && problems,
  );
  expect(others).toEqual([]);
  const named = [...gone, '"unverifiedPerMinute" in ATTESTATION'].map((name) => `${name} has no effect any more: `);
  expect(problems).toHaveLength(named.length);
  expect(problems).toEqual(expect.arrayContaining(named.map((start) => expect.stringMatching(`^${start}.+\\.$`))));

  expect(lines).toContainEqual({
    level: 'info',
    time: expect.any(String),
    msg: expect.stringMatching(
      /^callers: router and orders; scopes: enforced by the header x-user-scopes; sealing: on; attestation: for orders; quotas: fingerprint and captcha, all replicas together; policy: [\da-f]{12} in \S+; fail-open: faults, three a minute for each person, twelve a minute for each network without a person, and for all others together twice what others passed$/,
    ),
  });
});
