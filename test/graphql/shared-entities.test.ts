import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { prepareApplication } from '../../src/fingerprint/client.ts';
import { Judgements } from '../../src/fingerprint/judgement.ts';
import { toOutcome } from '../../src/fingerprint/outcome.ts';
import { DEFAULT_POLICY, decide } from '../../src/fingerprint/policy.ts';
import { compile } from '../../src/graphql/compile.ts';
import { createContext } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { Cancellation } from '../../src/upstream/call-context.ts';
import { ANDROID } from '../faults/documented.ts';

/** What compiled code does for equal references, which is not to be seen in an answer. */

const application = prepareApplication({
  publicKey: 'pk_1',
  secret: 's',
  region: 'GLB',
  baseUrl: 'https://fp.example',
});
const operation = compile(
  buildSchema(),
  parse('query ($r: [_Any!]!) { all: _entities(representations: $r) { ... on DeviceFingerprint { eventId } } }'),
);

/** A context whose devices count how often their `eventId` is read. */
function countingContext() {
  const count = { reads: 0, lookups: 0 };
  const ignore = () => {};
  const recorder = {
    requestId: 'r',
    cancellation: new Cancellation(),
    recordKind: ignore,
    recordFailure: ignore,
    recordLookup: () => {
      count.lookups += 1;
    },
    recordOutcome: ignore,
    recordCall: ignore,
    recordResult: ignore,
  };
  const context = createContext(
    {
      limits: { maxUpstreamCalls: 100, maxCaptchas: 1, maxCost: 119_000 },
      applicationFor: () => application,
      attestations: { check: () => undefined },
      judgements: new Judgements([], { recordJudgement: ignore }),
      fingerprintClient: {
        query: async (request) =>
          Object.defineProperty(toOutcome(request, { status: 200, json: ANDROID }, 0), 'eventId', {
            get: () => {
              count.reads += 1;
              return request.token;
            },
          }),
      },
      policyInUse: { forOperation: () => (device) => decide(DEFAULT_POLICY, device) },
      captchaClient: { validate: () => expect.unreachable('no captcha is asked about') },
    },
    recorder,
    { name: 'router', subject: undefined, scopes: undefined },
  );
  return { context, count };
}

test('an entity is completed once, however many equal references lead to it', async () => {
  const reference = (token: string) => ({ __typename: 'DeviceFingerprint', token });
  const different = countingContext();
  await operation?.execute(different.context, { r: [reference('a'), reference('b')] });
  expect(different.count.reads).toBeGreaterThan(0);

  const equal = countingContext();
  const r = ['a', 'b', 'b', 'a', 'b'].map(reference);
  const result = await operation?.execute(equal.context, { r });
  expect(result).toEqual({ data: { all: r.map(({ token }) => ({ eventId: token })) } });
  expect(equal.count).toEqual({ reads: different.count.reads, lookups: 5 });
});

test('an entity is completed for each reference if fewer than half of them repeat another one', async () => {
  const completed = async (tokens: string[]) => {
    const { context, count } = countingContext();
    await operation?.execute(context, { r: tokens.map((token) => ({ __typename: 'DeviceFingerprint', token })) });
    return count.reads;
  };
  expect(await completed(['a', 'b', 'a'])).toBe(await completed(['a', 'b', 'c']));
});
