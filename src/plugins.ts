import type { ApolloServerPlugin } from '@apollo/server';
import type { RequestContext } from './graphql/context.ts';

/** A company's plugins of Apollo Server. A module that Node loads before the start (`--import`) adds them. */
export const plugins: ApolloServerPlugin<RequestContext>[] = [];
