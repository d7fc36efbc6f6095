import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startProcess } from '../support/process.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';

/** The recipe for a service in Python, over the tokens that the order subgraph is tested with. */

const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3';
const PROGRAM = join(import.meta.dirname, 'recipes/verify_attestation.py');
const ours = await createSigner();
const keyServer = await startKeyServer([ours.publicJwk]);
beforeAll(() => {
  const { status } = spawnSync(PYTHON, ['-c', 'import jwt, cryptography']);
  if (status !== 0) throw new Error(`${PYTHON} has no PyJWT: "apt-get install -y python3-jwt" brings it.`);
});
afterEach(() => {
  keyServer.keys = [ours.publicJwk];
});
afterAll(() => keyServer.stop());

/** What the program says about each token, for an order of `user-1`; and why it ended, if it did not end well. */
async function verifyInPython(tokens: readonly string[], options = {}, jwksUrl = keyServer.jwksUrl) {
  const child = spawn(PYTHON, [PROGRAM, jwksUrl, ISSUER, 'orders']);
  const ended = new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  // It may end before it has read everything.
  child.stdin.on('error', () => {});
  const lines = tokens.map((token) => JSON.stringify({ token, action: 'placeOrder', person: 'user-1', ...options }));
  child.stdin.end(`${lines.join('\n')}\n`);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { verdicts: stdout.match(/.+/g)?.map((line) => JSON.parse(line)) ?? [], stderr, code };
}

test('gives the claims of a good attestation, of a person or of nobody, verified or not, and asks for keys once', async () => {
  const before = keyServer.asked();
  const changes = [{}, { sub: undefined }, { assurance: 'unverified' }];
  const tokens = await Promise.all(changes.map((some) => ours.sign(some)));
  const { verdicts, stderr } = await verifyInPython(tokens, { subject_required: false });
  expect(stderr).toBe('');
  expect(verdicts).toEqual([
    expect.objectContaining({ sub: 'user-1', assurance: 'verified', jti: expect.stringMatching(/^[\w-]{43}$/) }),
    expect.not.objectContaining({ sub: expect.anything() }),
    expect.objectContaining({ assurance: 'unverified' }),
  ]);
  expect(keyServer.asked() - before).toBe(1);
});

test('takes nobody for no proof unless that is allowed, and logs why', async () => {
  const { verdicts, stderr } = await verifyInPython([await ours.sign({ sub: undefined })]);
  expect([verdicts, stderr]).toEqual([['INVALID'], expect.stringMatching(/^attestation INVALID: .*"sub"/)]);
});

test('says the same about each forgery as the order subgraph, and logs a reason for each, but no part of a token', async () => {
  const program = startProcess('test/supergraph/print-forgeries.ts');
  try {
    const printed = JSON.parse((await program.waitFor(/^\{.*^\}$/ms))[0]);
    const tokens: Record<'name' | 'verdict' | 'token', string>[] = printed.tokens;
    const sent = tokens.map(({ token }) => token);
    const { verdicts, stderr } = await verifyInPython(sent, {}, printed.jwksUrl);
    const said = tokens.map(({ name }, index) => [name, verdicts[index].sub === 'user-1' ? 'GOOD' : verdicts[index]]);
    expect(said).toEqual(tokens.map(({ name, verdict }) => [name, verdict]));
    const refused = tokens.filter(({ verdict }) => verdict === 'INVALID' || verdict === 'EXPIRED');
    expect(stderr.match(/^attestation (INVALID|EXPIRED): .+$/gm)).toHaveLength(refused.length);
    const parts = sent.flatMap((token) => token.split('.')).filter((part) => part.length > 20);
    expect(parts.filter((part) => stderr.includes(part))).toEqual([]);
  } finally {
    await program.stop();
  }
});

test.each([
  ['nothing answers', undefined, /RemoteDisconnected/],
  ['the key set is empty', [], /PyJWKSetError|PyJWKClientError/],
])('raises an error if there are no keys, because %s', async (_why, keys, error) => {
  keyServer.keys = keys;
  const { verdicts, stderr, code } = await verifyInPython([await ours.sign()]);
  expect([verdicts, code]).toEqual([[], 1]);
  expect(stderr).toMatch(error);
});

test('raises an error for a token that is no proof, so that nobody can take what it returns for one', () => {
  const program = `
import verify_attestation as recipe
keys = recipe.Keys("${keyServer.jwksUrl}")
try:
    print("returned", recipe.verify("forged", "placeOrder", "user-1", keys, "${ISSUER}", "orders"))
except recipe.Refused as refused:
    print("raised", refused)`;
  const { stdout, stderr } = spawnSync(PYTHON, ['-B', '-c', program], { cwd: join(PROGRAM, '..'), encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['raised INVALID\n', expect.stringMatching(/^attestation INVALID: /)]);
});
