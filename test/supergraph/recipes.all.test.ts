import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { ROOT, startProcess } from '../support/process.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';

/** The recipe for each language, over the tokens that the order subgraph is tested with. Go, Java and Rust are tried where they are installed. */

const RECIPES = join(import.meta.dirname, 'recipes');
const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3';
/** Kept, because the libraries for Rust take a minute. */
const CARGO = join(ROOT, 'node_modules/.cache/cargo');
const built = await mkdtemp(join(tmpdir(), 'device-trust-recipes-'));
const ours = await createSigner();
const keyServer = await startKeyServer([ours.publicJwk]);
afterEach(() => {
  keyServer.keys = [ours.publicJwk];
});
afterAll(() => Promise.all([keyServer.stop(), rm(built, { recursive: true })]));

/** Each language, with what builds its program, and the program. */
const LANGUAGES: Readonly<Record<string, { build: readonly string[]; program: readonly string[] }>> = {
  Python: {
    build: [PYTHON, '-c', 'import jwt, cryptography'],
    program: [PYTHON, join(RECIPES, 'verify_attestation.py')],
  },
  Go: {
    build: ['go', 'build', '-C', join(RECIPES, 'go'), '-o', join(built, 'verify'), '.'],
    program: [join(built, 'verify')],
  },
  Java: {
    build: [
      ...['mvn', '-q', '-B', '-f', join(RECIPES, 'java/pom.xml')],
      ...['dependency:copy-dependencies', `-DoutputDirectory=${join(built, 'java')}`],
    ],
    program: ['java', '-cp', join(built, 'java/*'), join(RECIPES, 'java/VerifyAttestation.java')],
  },
  Rust: {
    build: [
      'cargo',
      'build',
      '-q',
      '--locked',
      '--manifest-path',
      join(RECIPES, 'rust/Cargo.toml'),
      '--target-dir',
      CARGO,
    ],
    program: [join(CARGO, 'debug/verify')],
  },
};

/** Runs a command to its end. The status is null if there is no such program. */
const run = ([command = '', ...words]: readonly string[], options = {}) =>
  spawnSync(command, words, { encoding: 'utf8', ...options });
const isMissing = (language: string) =>
  language !== 'Python' && run([LANGUAGES[language]?.build[0] ?? '', 'version']).error;

describe.for(Object.entries(LANGUAGES))('the recipe for %s', ([language, { build, program }]) => {
  const skip = Boolean(isMissing(language));
  const { status, stderr } = skip ? { status: 0, stderr: '' } : run(build);

  /** What the program says about each token, for an order of `user-1`; and why it ended, if it did not end well. */
  async function verify(tokens: readonly string[], options = {}, jwksUrl = keyServer.jwksUrl) {
    const [command = '', ...words] = program;
    const child = spawn(command, [...words, jwksUrl, ISSUER, 'orders']);
    const ended = new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    // It may end before it has read everything.
    child.stdin.on('error', () => {});
    const lines = tokens.map((token) => JSON.stringify({ token, action: 'placeOrder', person: 'user-1', ...options }));
    child.stdin.end(`${lines.join('\n')}\n`);
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { verdicts: stdout.match(/.+/g)?.map((line) => JSON.parse(line)) ?? [], stderr, code };
  }

  test('can be built', () => {
    expect(status, `${build[0]} fails; "apt-get install -y python3-jwt" brings the library for Python\n${stderr}`).toBe(
      0,
    );
  });

  test.skipIf(skip)(
    'gives the claims of a good attestation, of a person or of nobody, verified or not, and asks for keys once',
    async () => {
      const before = keyServer.asked();
      const changes = [{}, { sub: undefined }, { assurance: 'unverified' }];
      const tokens = await Promise.all(changes.map((some) => ours.sign(some)));
      const { verdicts, stderr } = await verify(tokens, { subject_required: false });
      expect(stderr).toBe('');
      expect(verdicts).toEqual([
        expect.objectContaining({ sub: 'user-1', assurance: 'verified', jti: expect.stringMatching(/^[\w-]{43}$/) }),
        expect.not.objectContaining({ sub: expect.anything() }),
        expect.objectContaining({ assurance: 'unverified' }),
      ]);
      expect(keyServer.asked() - before).toBe(1);
    },
  );

  test.skipIf(skip)('takes nobody for no proof unless that is allowed, and logs why', async () => {
    const { verdicts, stderr } = await verify([await ours.sign({ sub: undefined })]);
    expect([verdicts, stderr]).toEqual([['INVALID'], expect.stringMatching(/attestation INVALID: ./)]);
  });

  test.skipIf(skip)(
    'says the same about each forgery as the order subgraph, and logs a reason for each, but no part of a token',
    async () => {
      const forgeries = startProcess('test/supergraph/print-forgeries.ts');
      try {
        const printed = JSON.parse((await forgeries.waitFor(/^\{.*^\}$/ms))[0]);
        const tokens: Record<'name' | 'verdict' | 'token', string>[] = printed.tokens;
        const sent = tokens.map(({ token }) => token);
        const { verdicts, stderr } = await verify(sent, {}, printed.jwksUrl);
        const said = tokens.map(({ name }, at) => [name, verdicts[at]?.sub === 'user-1' ? 'GOOD' : verdicts[at]]);
        expect(said).toEqual(tokens.map(({ name, verdict }) => [name, verdict]));
        const refused = tokens.filter(({ verdict }) => verdict === 'INVALID' || verdict === 'EXPIRED');
        expect(stderr.match(/attestation (INVALID|EXPIRED): .+$/gm)).toHaveLength(refused.length);
        const parts = sent.flatMap((token) => token.split('.')).filter((part) => part.length > 20);
        expect(parts.filter((part) => stderr.includes(part))).toEqual([]);
      } finally {
        await forgeries.stop();
      }
    },
  );

  test.skipIf(skip).for([
    ['nothing answers', undefined],
    ['the key set is empty', []],
  ] as const)('ends with an error if there are no keys, because %s', async ([_why, keys]) => {
    keyServer.keys = keys;
    const { verdicts, stderr, code } = await verify([await ours.sign()]);
    expect([verdicts, code]).toEqual([[], 1]);
    expect(stderr).toMatch(
      /RemoteDisconnected|PyJWKSetError|PyJWKClientError|keys cannot be fetched|IOException|SocketException/,
    );
  });
});

test('the recipe for Python raises an error for a token that is no proof, so that nobody can take what it returns for one', () => {
  const program = `
import verify_attestation as recipe
keys = recipe.Keys("${keyServer.jwksUrl}")
try:
    print("returned", recipe.verify("forged", "placeOrder", "user-1", keys, "${ISSUER}", "orders"))
except recipe.Refused as refused:
    print("raised", refused)`;
  const { stdout, stderr } = run([PYTHON, '-B', '-c', program], { cwd: RECIPES });
  expect([stdout, stderr]).toEqual(['raised INVALID\n', expect.stringMatching(/^attestation INVALID: /)]);
});
