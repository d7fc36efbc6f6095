import { globSync, readFileSync } from 'node:fs';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { parse } from 'graphql';
import { type CaptchaInput, type FingerprintArguments, judge, type Post, verify } from './wire.ts';

/** Our schema with the resolvers that anyone would write. */

type Judged = Extract<Awaited<ReturnType<typeof judge>>, { __typename: 'DeviceFingerprint' }>;

const RANK: Readonly<Record<string, number>> = { LOW: 0, MEDIUM: 1, HIGH: 2 };

/** Reads `schema/` of the folder that the process runs in. */
export function buildSchema(post: Post) {
  const resolvers = {
    Query: {
      deviceFingerprint: (_root: unknown, args: FingerprintArguments) => judge(post, args),
    },
    Mutation: {
      validateCaptcha: (_root: unknown, { input }: { input: CaptchaInput }) => verify(post, input),
    },
    DeviceFingerprint: {
      __resolveReference: async ({ token }: { token: string }) => {
        const outcome = await judge(post, { token });
        if (outcome.__typename !== 'DeviceFingerprint') throw new Error('the token was rejected');
        return outcome;
      },
      signals: ({ signals }: Judged, { minLevel, minConfidence }: Record<string, string | number | null | undefined>) =>
        signals.filter(
          ({ level, confidence }) =>
            (RANK[level] ?? 0) >= (RANK[minLevel ?? 'LOW'] ?? 0) && confidence >= Number(minConfidence ?? 0),
        ),
    },
  };
  const files = globSync('schema/*.graphql').sort();
  const typeDefs = parse(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
  // Sound: the types of @apollo/subgraph know parents and arguments as unknown only; these are what the schema says.
  return buildSubgraphSchema([{ typeDefs, resolvers: resolvers as NonNullable<GraphQLSchemaModule['resolvers']> }]);
}
