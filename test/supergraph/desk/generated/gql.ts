/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "\n  query Checkouts {\n    checkouts(first: 100) { ...Summary judgement { decision { rule } } }\n  }\n\n  fragment Summary on Checkout {\n    id\n    startedAt\n    item\n    customer { id name }\n    status\n    refusal\n    order { id }\n    captcha\n    decision\n    notJudged\n  }\n": typeof types.CheckoutsDocument,
    "\n  query Checkout($id: ID!) {\n    checkout(id: $id) { ...Summary judgement { ...Judgement } }\n  }\n\n  fragment Judgement on DeviceJudgement {\n    judgedAt\n    eventType\n    eventId\n    requestId\n    clientType\n    deviceBasic {\n      __typename\n      ... on Mobile { model architecture os { name version } }\n      ... on Web { browser { name version } device { vendor model } os { name version } }\n    }\n    device { id orders { checkout { ...Summary } } }\n    ipInfo { ip }\n    signals { name level confidence effect meaning }\n    decision { rule policy }\n  }\n": typeof types.CheckoutDocument,
};
const documents: Documents = {
    "\n  query Checkouts {\n    checkouts(first: 100) { ...Summary judgement { decision { rule } } }\n  }\n\n  fragment Summary on Checkout {\n    id\n    startedAt\n    item\n    customer { id name }\n    status\n    refusal\n    order { id }\n    captcha\n    decision\n    notJudged\n  }\n": types.CheckoutsDocument,
    "\n  query Checkout($id: ID!) {\n    checkout(id: $id) { ...Summary judgement { ...Judgement } }\n  }\n\n  fragment Judgement on DeviceJudgement {\n    judgedAt\n    eventType\n    eventId\n    requestId\n    clientType\n    deviceBasic {\n      __typename\n      ... on Mobile { model architecture os { name version } }\n      ... on Web { browser { name version } device { vendor model } os { name version } }\n    }\n    device { id orders { checkout { ...Summary } } }\n    ipInfo { ip }\n    signals { name level confidence effect meaning }\n    decision { rule policy }\n  }\n": types.CheckoutDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Checkouts {\n    checkouts(first: 100) { ...Summary judgement { decision { rule } } }\n  }\n\n  fragment Summary on Checkout {\n    id\n    startedAt\n    item\n    customer { id name }\n    status\n    refusal\n    order { id }\n    captcha\n    decision\n    notJudged\n  }\n"): (typeof documents)["\n  query Checkouts {\n    checkouts(first: 100) { ...Summary judgement { decision { rule } } }\n  }\n\n  fragment Summary on Checkout {\n    id\n    startedAt\n    item\n    customer { id name }\n    status\n    refusal\n    order { id }\n    captcha\n    decision\n    notJudged\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  query Checkout($id: ID!) {\n    checkout(id: $id) { ...Summary judgement { ...Judgement } }\n  }\n\n  fragment Judgement on DeviceJudgement {\n    judgedAt\n    eventType\n    eventId\n    requestId\n    clientType\n    deviceBasic {\n      __typename\n      ... on Mobile { model architecture os { name version } }\n      ... on Web { browser { name version } device { vendor model } os { name version } }\n    }\n    device { id orders { checkout { ...Summary } } }\n    ipInfo { ip }\n    signals { name level confidence effect meaning }\n    decision { rule policy }\n  }\n"): (typeof documents)["\n  query Checkout($id: ID!) {\n    checkout(id: $id) { ...Summary judgement { ...Judgement } }\n  }\n\n  fragment Judgement on DeviceJudgement {\n    judgedAt\n    eventType\n    eventId\n    requestId\n    clientType\n    deviceBasic {\n      __typename\n      ... on Mobile { model architecture os { name version } }\n      ... on Web { browser { name version } device { vendor model } os { name version } }\n    }\n    device { id orders { checkout { ...Summary } } }\n    ipInfo { ip }\n    signals { name level confidence effect meaning }\n    decision { rule policy }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;