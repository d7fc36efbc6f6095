import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ROOT, startProcess } from '../support/process.ts';
import { untilEnd } from '../support/until-end.ts';
import { PYTHON, recipesIn, run } from './recipes.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';

/** The recipe for each language, over the tokens that the order subgraph is tested with. */

const RECIPES = join(ROOT, 'schema/recipes');
const built = await mkdtemp(join(tmpdir(), 'device-trust-recipes-'));
const ours = await createSigner();
const keyServer = await startKeyServer([ours.publicJwk]);
/** A second issuer, by chance with our kid. */
const theirs = await createSigner();
const otherServer = await startKeyServer([{ ...theirs.publicJwk, kid: ours.kid }]);
const OTHER = [otherServer.jwksUrl, 'https://other.example'] as const;
afterEach(() => {
  keyServer.keys = [ours.publicJwk];
});
afterAll(() => Promise.all([keyServer.stop(), otherServer.stop(), rm(built, { recursive: true })]));

describe.for(recipesIn(RECIPES, built))('the recipe for $language', ({ build, isMissing, ...recipe }) => {
  beforeEach(({ skip }) => skip(isMissing));
  const { status, stderr } = run(build);
  const verify = (
    tokens: readonly string[],
    options = {},
    jwksUrl = keyServer.jwksUrl,
    other: readonly string[] = [],
  ) => recipe.verify(jwksUrl, ISSUER, tokens, options, other);

  test('the recipe can be built', () => {
    expect(status, `${build[0]} fails; "apt-get install -y python3-jwt" brings the library for Python\n${stderr}`).toBe(
      0,
    );
  });

  test('the recipe gives the claims of a good attestation, of a person or of nobody, verified or not, and asks for keys once', async () => {
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
  });

  test('the recipe takes nobody for no proof unless that is allowed, and logs why', async () => {
    const { verdicts, stderr } = await verify([await ours.sign({ sub: undefined })]);
    expect([verdicts, stderr]).toEqual([['INVALID'], expect.stringMatching(/attestation INVALID: ./)]);
  });

  test('the recipe takes a token of each of two issuers, with the keys of the one that it names only', async () => {
    const [before, otherBefore] = [keyServer.asked(), otherServer.asked()];
    const [header, iss] = [{ kid: ours.kid }, OTHER[1]];
    const made = [theirs.sign({ iss }, header), theirs.sign({}, header), ours.sign(), ours.sign({ iss })];
    const unknown = await ours.sign({ iss: 'https://third.example' });
    const { verdicts, stderr } = await verify([...(await Promise.all(made)), unknown], {}, undefined, OTHER);
    const proof = (issuer: string) => expect.objectContaining({ iss: issuer, sub: 'user-1' });
    expect(verdicts).toEqual([proof(iss), 'INVALID', proof(ISSUER), 'INVALID', 'INVALID']);
    expect(stderr.match(/attestation INVALID: ./g)).toHaveLength(3);
    expect([keyServer.asked() - before, otherServer.asked() - otherBefore]).toEqual([1, 1]);
  });

  test.for([
    ['one issuer', []],
    ['two issuers', OTHER],
  ] as const)(
    'the recipe says the same about each forgery as the order subgraph, and logs a reason for each, but no part of a token, with %s',
    async ([_name, other]) => {
      const forgeries = await untilEnd(startProcess('test/supergraph/print-forgeries.ts'));
      const printed = JSON.parse((await forgeries.waitFor(/^\{.*^\}$/ms))[0]);
      const tokens: Record<'name' | 'verdict' | 'token', string>[] = printed.tokens;
      const sent = tokens.map(({ token }) => token);
      const { verdicts, stderr } = await verify(sent, {}, printed.jwksUrl, other);
      const said = tokens.map(({ name }, at) => [name, verdicts[at]?.sub === 'user-1' ? 'GOOD' : verdicts[at]]);
      expect(said).toEqual(tokens.map(({ name, verdict }) => [name, verdict]));
      const refused = tokens.filter(({ verdict }) => verdict === 'INVALID' || verdict === 'EXPIRED');
      expect(stderr.match(/attestation (INVALID|EXPIRED): .+$/gm)).toHaveLength(refused.length);
      const parts = sent.flatMap((token) => token.split('.')).filter((part) => part.length > 20);
      expect(parts.filter((part) => stderr.includes(part))).toEqual([]);
    },
  );

  test.for([
    ['nothing answers', undefined],
    ['the key set is empty', []],
  ] as const)('the recipe ends with an error if there are no keys, because %s', async ([_why, keys]) => {
    keyServer.keys = keys;
    const { verdicts, stderr, code } = await verify([await ours.sign()]);
    expect([verdicts, code]).toEqual([[], 1]);
    expect(stderr).toMatch(
      /RemoteDisconnected|PyJWKSetError|PyJWKClientError|keys cannot be fetched|IOException|SocketException/,
    );
  });
});

test('the recipe for Python asks for expired keys again a second after a failure has ended, as for the first ones', () => {
  const program = `
import time, verify_attestation as recipe
def fail_late(*_, **__):
    time.sleep(1.1)
    raise OSError("late")
recipe.urllib.request.urlopen = fail_late
keys = recipe.Keys("http://127.0.0.1:9")
keys.keys, keys.fetched, keys.tried = {"old": None}, time.monotonic() - 601, time.monotonic() - 2
for _ in range(2):
    try:
        keys.find("old")
    except Exception as error:
        print(type(error).__name__)`;
  expect(run([PYTHON, '-B', '-c', program], { cwd: RECIPES }).stdout).toBe('OSError\nLookupError\n');
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
