import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { verifyAttestation } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { listen } from '../support/loopback.ts';
import { MAIN, ROOT, shell, startCommand, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { type Context, LIVE, SANDBOX, startServing } from './environments.ts';

/** How a process starts, from its environment to its greeting and its first requests, and what it writes if it refuses to. */

const CANARY = 'canary-7f3a';

/** Runs the server to its end, which has to come by itself, with 1 and without a word on stdout. Gives what stderr says. */
async function refusalOf({ onTestFinished }: Context, env: Readonly<Record<string, string>>): Promise<string> {
  const child = startProcess(MAIN, env);
  onTestFinished(child.stop);
  expect(await child.ended).toBe(1);
  expect(child.stdout()).toBe('');
  expect(child.stderr()).not.toContain(CANARY);
  return child.stderr();
}

describe.concurrent('a configuration that is wrong', () => {
  test('is refused with a sentence for each mistake, without the secret that is among them', async (context) => {
    const FINGERPRINT_APPLICATIONS = `[{"publicKey":"pk_shop","secret":"${CANARY} ","region":"NA"}]`;
    expect(await refusalOf(context, { ...LIVE, PORT: '70000', FINGERPRINT_APPLICATIONS })).toMatch(
      /^The configuration has to be corrected:\n {2}PORT: expected .*\n {2}FINGERPRINT_APPLICATIONS: expected .*\n$/,
    );
  });

  test('a policy is refused with every mistake', async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'policy-'));
    context.onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'policy.json');
    await writeFile(path, '{"rules":[{"id":"a","when":{"anyOf":["EMULATER"]},"then":"BLOCK"}]}');
    expect(await refusalOf(context, { ...SANDBOX, RISK_POLICY_FILE: path })).toBe(
      'The configuration has to be corrected:\n' +
        '  RISK_POLICY_FILE: rule "a": when.anyOf: expected the code of a documented signal, but got "EMULATER". Did you mean EMULATOR?\n' +
        '  RISK_POLICY_FILE: rule "a": then: expected ALLOW, CHALLENGE or DENY, but got "BLOCK".\n' +
        '  RISK_POLICY_FILE: otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.\n',
    );
  });
});

test('`npm run dev` on a port that is taken ends with 1 and a sentence that names its variable, and waits for no change', async ({
  onTestFinished,
}) => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const PORT = String(await listen(server));
  const env = { PATH: process.env['PATH'], PORT, ADMIN_PORT: '0', SANDBOX_PORT: '0' };
  const child = startCommand(['npm', 'run', '--silent', 'dev'], { cwd: ROOT, env });
  onTestFinished(child.stop);
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  expect(child.stderr()).toContain(
    `The subgraph cannot listen:\n  PORT: expected a free port, but ${PORT} is taken.\n`,
  );
});

test('a start names every mistake at once, those of the policy file among them', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'mistakes-'));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const RISK_POLICY_FILE = join(folder, 'policy.json');
  await writeFile(RISK_POLICY_FILE, '{"rules":[{"id":"a","when":{"effect":"DENY"},"then":"BLOCK"}],"otherwise":"NO"}');
  const child = startProcess(MAIN, { ...LIVE, PORT: 'many', CAPTCHA_TIMEOUT_MS: '0', RISK_POLICY_FILE });
  context.onTestFinished(child.stop);
  expect(await child.ended).toBe(1);
  const sentences = child.stderr().trimEnd().split('\n');
  expect(sentences[0]).toBe('The configuration has to be corrected:');
  expect(sentences.slice(1).map((line) => line.trim().split(':', 1)[0])).toEqual([
    'PORT',
    'CAPTCHA_TIMEOUT_MS',
    'RISK_POLICY_FILE',
    'RISK_POLICY_FILE',
  ]);
});

test('what sandbox mode sealed and attested is good after a restart', async (context) => {
  const first = await startServing(context, SANDBOX);
  const [, sandboxUrl = ''] = /POST '(.*)\/sandbox\/challenges/.exec(first.child.stdout()) ?? [];
  const input = { ...(await solveChallenge(sandboxUrl)), audience: 'orders', action: 'placeOrder' };
  const attest = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
  const { attestation } = (await ask(first.graphqlUrl, attest, { input })).data.validateCaptcha;
  const judge =
    '{ deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { judgement { __typename sealed } } } }';
  const { judgement } = (await ask(first.graphqlUrl, judge)).data.deviceFingerprint;
  expect(await first.child.end('SIGTERM')).toBe(0);

  const { graphqlUrl, urlOf } = await startServing(context, SANDBOX);
  const jwks = await (await fetch(urlOf('/.well-known/jwks.json'))).text();
  expect(await verifyAttestation(attestation, jwks)).toMatchObject({ action: 'placeOrder' });
  const open = 'query ($of: [_Any!]!) { _entities(representations: $of) { ... on DeviceJudgement { clientType } } }';
  expect((await ask(graphqlUrl, open, { of: [judgement] })).data._entities).toEqual([{ clientType: 'IOS' }]);
});

test('in sandbox mode it says where it is and what to ask, and all of that works, twice, until a SIGINT', async (context) => {
  const { child, graphqlUrl, urlOf } = await startServing(context, SANDBOX);
  expect(child.stdout()).toContain(`Device trust is at ${graphqlUrl}, Apollo Sandbox at ${urlOf('/').slice(0, -1)}\n`);
  expect((await fetch(urlOf('/'), { headers: { accept: 'text/html' } })).status).toBe(200);

  const commands = child
    .stdout()
    .split('\n')
    .filter((line) => line.startsWith('curl '));
  const answered = [
    { deviceFingerprint: expect.objectContaining({ clientType: 'ANDROID' }) },
    { signalCatalogue: expect.objectContaining({ length: 51 }) },
    { validateCaptcha: expect.objectContaining({ __typename: 'CaptchaPassed', proceed: true }) },
  ];
  const answers: { data: object; errors?: unknown }[] = [];
  for (const command of [...commands, ...commands]) answers.push(JSON.parse(await shell(command)));
  expect(answers.map(({ errors }) => errors)).toEqual(Array(6).fill(undefined));
  for (const time of [answers.slice(0, 3), answers.slice(3)]) {
    const byField = time.map(({ data }) => data).sort((one, other) => (Object.keys(one) < Object.keys(other) ? -1 : 1));
    expect(byField).toEqual(answered);
  }

  // Leaves a connection open, as a router does.
  await (await fetch(graphqlUrl, { method: 'POST' })).text();
  expect(await child.end('SIGINT')).toBe(0);
  expect(child.stderr()).toBe('');
  await expect(fetch(graphqlUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
