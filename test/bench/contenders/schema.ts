import { globSync, readFileSync } from 'node:fs';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { parse } from 'graphql';
import type { MutationValidateCaptchaArgs, QueryDeviceFingerprintArgs } from '../../../src/schema.generated.ts';
import { judge, type Post, verify } from './wire.ts';

/** Our schema with the resolvers that anyone would write. It reads `schema/` of the folder that the process runs in. */
export function buildSchema(post: Post) {
  const resolvers = {
    Query: {
      deviceFingerprint: (_root: unknown, args: QueryDeviceFingerprintArgs) => judge(post, args),
    },
    Mutation: {
      validateCaptcha: (_root: unknown, { input }: MutationValidateCaptchaArgs) => verify(post, input),
    },
    DeviceFingerprint: {
      __resolveReference: ({ token }: { token: string }) => judge(post, { token }),
    },
  };
  const files = globSync('schema/*.graphql').sort();
  const typeDefs = parse(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
  // Safe: the types of @apollo/subgraph know parents and arguments as unknown only; these are what the schema says.
  return buildSubgraphSchema([{ typeDefs, resolvers: resolvers as NonNullable<GraphQLSchemaModule['resolvers']> }]);
}
