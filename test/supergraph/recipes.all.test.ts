import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { FORGERIES } from './forgeries.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';

/** The recipe for a service in Python, over the tokens that the order subgraph is tested with. */

const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3';
const PROGRAM = join(import.meta.dirname, 'recipes/verify_attestation.py');
const ours = await createSigner();
const attacker = await createSigner();
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
async function verifyInPython(tokens: readonly string[]) {
  const child = spawn(PYTHON, [PROGRAM, keyServer.jwksUrl, ISSUER, 'orders']);
  const ended = new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  // It may end before it has read everything.
  child.stdin.on('error', () => {});
  const lines = tokens.map((token) => JSON.stringify({ token, action: 'placeOrder', person: 'user-1' }));
  child.stdin.end(`${lines.join('\n')}\n`);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { verdicts: stdout.match(/.+/g)?.map((line) => JSON.parse(line)) ?? [], stderr, code };
}

test('gives the claims of a good attestation, of a person or of nobody, verified or not', async () => {
  const changes = [{}, { sub: undefined }, { asr: 'unverified' }];
  const { verdicts, stderr } = await verifyInPython(await Promise.all(changes.map((some) => ours.sign(some))));
  expect(stderr).toBe('');
  expect(verdicts).toEqual([
    expect.objectContaining({ sub: 'user-1', asr: 'verified', jti: expect.stringMatching(/^[\w-]{43}$/) }),
    expect.not.objectContaining({ sub: expect.anything() }),
    expect.objectContaining({ asr: 'unverified' }),
  ]);
});

test('says the same about each forgery as the order subgraph, and asks for keys once', async () => {
  const before = keyServer.asked();
  const tokens = await Promise.all(FORGERIES.map(({ make }) => make(ours, attacker)));
  const { verdicts, stderr } = await verifyInPython(tokens);
  expect(stderr).toBe('');
  expect(FORGERIES.map(({ name }, index) => [name, verdicts[index]])).toEqual(
    FORGERIES.map(({ name, verdict }) => [name, verdict]),
  );
  expect(keyServer.asked() - before).toBe(1);
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
