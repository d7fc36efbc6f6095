import type { GraphQLSchemaModule } from '@apollo/subgraph';
import { concatAST } from 'graphql';
import type { CaptchaCaller } from './captcha/fail-open-budget.ts';
import { type CaptchaContext, type CaptchaParts, CaptchaRequest, captchaResolvers } from './captcha/resolvers.ts';
import type { FingerprintCaller } from './fingerprint/request.ts';
import {
  DeviceRequest,
  type FingerprintContext,
  type FingerprintParts,
  fingerprintResolvers,
} from './fingerprint/resolvers.ts';
import { RequestContext } from './graphql/context.ts';
import { DateTime, JSONObject } from './graphql/scalars.ts';
import { buildSchema, typeDefs } from './graphql/schema.ts';
import type { RequestScope } from './upstream/call.ts';

/** The slices of the subgraph: one line each in the schema and in the context of a request. */

const MODULES: GraphQLSchemaModule[] = [
  { typeDefs: typeDefs('schema.graphql'), resolvers: { DateTime, JSONObject } },
  { typeDefs: typeDefs('fingerprint.graphql'), resolvers: fingerprintResolvers },
  { typeDefs: typeDefs('captcha.graphql'), resolvers: captchaResolvers },
];

export const SUBGRAPH_DOCUMENT = concatAST(MODULES.map(({ typeDefs }) => typeDefs));

export const SUBGRAPH_SCHEMA = buildSchema(MODULES);

export interface SubgraphParts {
  readonly fingerprint: FingerprintParts;
  readonly captcha: CaptchaParts;
  readonly maxCost: number;
}

/** The context of all resolvers of one GraphQL request. */
export class SubgraphContext extends RequestContext implements FingerprintContext, CaptchaContext {
  readonly fingerprint: DeviceRequest;
  readonly captcha: CaptchaRequest;

  constructor(parts: SubgraphParts, scope: RequestScope, caller: FingerprintCaller & CaptchaCaller) {
    super(scope, caller, parts.maxCost);
    this.fingerprint = new DeviceRequest(parts.fingerprint, this, caller);
    this.captcha = new CaptchaRequest(parts.captcha, this, caller);
  }
}
