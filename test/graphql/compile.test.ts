import { execute, type GraphQLError, type OperationDefinitionNode, parse, validate } from 'graphql';
import { describe, expect, test } from 'vitest';
import { DeviceTrustError } from '../../src/errors.ts';
import { prepareApplication } from '../../src/fingerprint/client.ts';
import { Judgements } from '../../src/fingerprint/judgement.ts';
import type { FingerprintOutcome } from '../../src/fingerprint/outcome.ts';
import { toOutcome } from '../../src/fingerprint/outcome.ts';
import { DEFAULT_POLICY, decide } from '../../src/fingerprint/policy.ts';
import { compile } from '../../src/graphql/compile.ts';
import { type Capabilities, createContext } from '../../src/graphql/context.ts';
import { formatError, inOrder } from '../../src/graphql/errors.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { checkVariables } from '../../src/graphql/variables.ts';
import { serialize } from '../../src/server/answer.ts';
import { Cancellation } from '../../src/upstream/call-context.ts';
import { ANDROID, WEB } from '../faults/documented.ts';
import { sealedJudgements } from '../support/judgements.ts';
import { type MadeUp, makeUp } from './random-operations.ts';

/** Compiled operations answer as graphql-js does, byte for byte: data, errors, their order and their locations. */

const OPERATIONS = 200;
const schema = buildSchema();
const application = prepareApplication({
  publicKey: 'pk_1',
  secret: 's',
  region: 'GLB',
  baseUrl: 'https://fp.example',
});

/** Upstreams that answer by what they are asked, so that two executions of one operation find the same world. */
const capabilities: Capabilities = {
  limits: { maxUpstreamCalls: 3, maxCaptchas: 2, maxCost: 119_000 },
  applicationFor: (publicKey) => (publicKey === 'pk_unknown' ? undefined : application),
  attestations: {
    check: ({ audience }) =>
      audience == null
        ? undefined
        : { attest: async ({ proceed }) => (proceed ? `an attestation for ${audience}` : null) },
  },
  judgements: new Judgements(
    sealedJudgements().map(({ key }) => key),
    { recordJudgement: () => {} },
  ),
  fingerprintClient: {
    query: async (request): Promise<FingerprintOutcome> => {
      if (request.token === 'unavailable') throw new DeviceTrustError('UPSTREAM_UNAVAILABLE');
      if (request.token === 'broken') throw new TypeError('a mistake of ours');
      const isGood = request.token === 'android' || request.token === 'web';
      const rejection = { code: 400, message: 'Invalid request', data: { errors: [] } };
      const json = isGood ? (request.token === 'web' ? WEB : ANDROID) : rejection;
      return toOutcome(request, { status: isGood ? 200 : 400, json }, Date.now());
    },
  },
  policyInUse: { forOperation: () => (device) => decide(DEFAULT_POLICY, device) },
  captchaClient: {
    validate: async ({ lotNumber }) => {
      if (lotNumber === 'throws') throw new DeviceTrustError('OVERLOADED');
      if (lotNumber === 'fails') {
        const details = { usedType: null, userIp: null, lotNumber };
        return { __typename: 'CaptchaFailed', proceed: false, reason: 'no', category: 'OTHER', details };
      }
      if (lotNumber === 'is open') {
        const rest = { cause: 'SERVICE', code: null, type: null, message: 'open', isConfirmed: true } as const;
        return { __typename: 'CaptchaIndeterminate', proceed: true, ...rest };
      }
      return { __typename: 'CaptchaPassed', proceed: true, details: { usedType: 'slide', lotNumber, scene: 's' } };
    },
  },
};

function contextOf(recordLookup: () => void = () => {}, scopes?: ReadonlySet<string>) {
  const ignore = () => {};
  const recorder = {
    requestId: 'r',
    cancellation: new Cancellation(),
    recordKind: ignore,
    recordFailure: ignore,
    recordLookup,
    recordOutcome: ignore,
    recordCall: ignore,
    recordResult: ignore,
  };
  return createContext(capabilities, recorder, { name: 'router', subject: undefined, scopes });
}

function written({ data, errors }: { data?: unknown; errors?: readonly GraphQLError[] | undefined }): string {
  const formatted = errors && inOrder(errors.map((error) => formatError(error.toJSON(), error)));
  // Sound: what an execution of an object type gives is an object or null.
  return serialize({ data: (data ?? null) as Record<string, unknown> | null, ...(formatted && { errors: formatted }) });
}

/** Undefined for an operation that is not valid: two of its fields were given one name. */
async function bothWays({ document, variables }: MadeUp, scopes?: ReadonlySet<string>) {
  const parsed = parse(document);
  const problems = validate(schema, parsed);
  if (problems.some(({ message }) => message.includes('conflict'))) return undefined;
  if (problems.length > 0) throw new Error(`${document}\n${problems.join('\n')}`);
  const context = () => contextOf(undefined, scopes);
  const slow = await execute({ schema, document: parsed, contextValue: context(), variableValues: variables });
  const fast = await compile(schema, parsed)?.execute(context(), variables);
  return { slow: written(slow), fast: fast && written(fast) };
}

describe(`${OPERATIONS} random operations`, () => {
  test('are answered alike by graphql-js and by compiled code', async () => {
    const count = { compared: 0, withErrors: 0, forbidden: 0, uncompiled: 0 };
    for (let seed = 0; seed < OPERATIONS; seed += 1) {
      const operation = makeUp(seed);
      // Every third caller may not see what has the tag `risk`.
      const answers = await bothWays(operation, seed % 3 === 0 ? new Set() : undefined);
      if (!answers) continue;
      const { slow, fast } = answers;
      if (fast === undefined) {
        count.uncompiled += 1;
        continue;
      }
      expect(fast, `seed ${seed}: ${operation.document} ${JSON.stringify(operation.variables)}`).toBe(slow);
      count.compared += 1;
      if (slow.startsWith('{"errors"')) count.withErrors += 1;
      if (slow.includes('"FORBIDDEN"')) count.forbidden += 1;
    }
    // There are enough of both kinds for a meaningful comparison.
    expect(count.compared).toBeGreaterThan(OPERATIONS * 0.6);
    expect(count.uncompiled).toBeLessThan(OPERATIONS * 0.4);
    expect(count.withErrors).toBeGreaterThan(OPERATIONS / 5);
    expect(count.forbidden).toBeGreaterThan(OPERATIONS / 20);
    expect(count.compared - count.withErrors).toBeGreaterThan(OPERATIONS / 5);
  });
});

/** Values that some scalar, enum or input object may or may not take. */
const JUNK = [
  null,
  '',
  'x',
  'HIGH',
  'high',
  0,
  -1,
  1.5,
  Number.POSITIVE_INFINITY,
  2 ** 31,
  true,
  [],
  ['a'],
  [null],
  {},
  { token: 'a' },
  { a: 1 },
];

describe('random variables', () => {
  test('are refused by compiled code if and only if graphql-js refuses them, and otherwise have the same values', async () => {
    let refused = 0;
    for (let seed = 0; seed < OPERATIONS; seed += 1) {
      const { document, variables } = makeUp(seed);
      const names = Object.keys(variables);
      const name = names[seed % Math.max(1, names.length)];
      if (name === undefined || validate(schema, parse(document)).length > 0) continue;
      const junk = { ...variables, [name]: JUNK[seed % JUNK.length] };
      const answers = await bothWays({ document, variables: junk });
      if (!answers) continue;
      const [operation] = parse(document).definitions;
      const isRefused = operation?.kind === 'OperationDefinition' && refuses(operation, junk);
      if (isRefused) refused += 1;
      const what = `seed ${seed}: ${document} ${JSON.stringify(junk)}`;
      if (isRefused) expect(answers.fast, what).toBeUndefined();
      else if (answers.fast !== undefined) expect(answers.fast, what).toBe(answers.slow);
    }
    expect(refused).toBeGreaterThan(OPERATIONS / 10);
  });
});

function refuses(operation: OperationDefinitionNode, variables: Record<string, unknown>): boolean {
  try {
    checkVariables(schema, operation, variables);
    return false;
  } catch {
    return true;
  }
}

test('nothing is executed with variables that do not fit their types', async () => {
  const document = 'query ($token: String!) { deviceFingerprint(token: $token) { __typename } }';
  const operation = compile(schema, parse(document));
  expect(operation).toBeDefined();
  for (const variables of [{}, { token: null }, { token: 5 }, { token: ['a'] }]) {
    let lookups = 0;
    const context = contextOf(() => {
      lookups += 1;
    });
    expect(await operation?.execute(context, variables)).toBeUndefined();
    expect(lookups).toBe(0);
  }
});
