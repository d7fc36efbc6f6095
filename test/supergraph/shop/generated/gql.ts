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
    "\n  query ThisDevice($token: String!, $metadata: DeviceMetadataInput) {\n    deviceFingerprint(token: $token, metadata: $metadata) {\n      __typename\n      ... on DeviceFingerprint {\n        clientType\n        deviceBasic {\n          __typename\n          ... on Mobile { model os { name } }\n          ... on Web { browser { name } os { name } }\n        }\n      }\n      ... on DeviceFingerprintRejected { reason }\n    }\n  }\n": typeof types.ThisDeviceDocument,
    "\n  mutation ValidateCaptcha($input: ValidateCaptchaInput!) {\n    validateCaptcha(input: $input) {\n      __typename\n      attestation\n      ... on CaptchaFailed { category }\n      ... on CaptchaIndeterminate { cause }\n    }\n  }\n": typeof types.ValidateCaptchaDocument,
    "\n  mutation PlaceOrder($input: PlaceOrderInput!) {\n    placeOrder(input: $input) {\n      __typename\n      ... on OrderPlaced { order { item priceCents customer { name } } }\n      ... on ChallengeRequired { reason audience action }\n      ... on OrderRefused { code }\n    }\n  }\n": typeof types.PlaceOrderDocument,
};
const documents: Documents = {
    "\n  query ThisDevice($token: String!, $metadata: DeviceMetadataInput) {\n    deviceFingerprint(token: $token, metadata: $metadata) {\n      __typename\n      ... on DeviceFingerprint {\n        clientType\n        deviceBasic {\n          __typename\n          ... on Mobile { model os { name } }\n          ... on Web { browser { name } os { name } }\n        }\n      }\n      ... on DeviceFingerprintRejected { reason }\n    }\n  }\n": types.ThisDeviceDocument,
    "\n  mutation ValidateCaptcha($input: ValidateCaptchaInput!) {\n    validateCaptcha(input: $input) {\n      __typename\n      attestation\n      ... on CaptchaFailed { category }\n      ... on CaptchaIndeterminate { cause }\n    }\n  }\n": types.ValidateCaptchaDocument,
    "\n  mutation PlaceOrder($input: PlaceOrderInput!) {\n    placeOrder(input: $input) {\n      __typename\n      ... on OrderPlaced { order { item priceCents customer { name } } }\n      ... on ChallengeRequired { reason audience action }\n      ... on OrderRefused { code }\n    }\n  }\n": types.PlaceOrderDocument,
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
export function graphql(source: "\n  query ThisDevice($token: String!, $metadata: DeviceMetadataInput) {\n    deviceFingerprint(token: $token, metadata: $metadata) {\n      __typename\n      ... on DeviceFingerprint {\n        clientType\n        deviceBasic {\n          __typename\n          ... on Mobile { model os { name } }\n          ... on Web { browser { name } os { name } }\n        }\n      }\n      ... on DeviceFingerprintRejected { reason }\n    }\n  }\n"): (typeof documents)["\n  query ThisDevice($token: String!, $metadata: DeviceMetadataInput) {\n    deviceFingerprint(token: $token, metadata: $metadata) {\n      __typename\n      ... on DeviceFingerprint {\n        clientType\n        deviceBasic {\n          __typename\n          ... on Mobile { model os { name } }\n          ... on Web { browser { name } os { name } }\n        }\n      }\n      ... on DeviceFingerprintRejected { reason }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation ValidateCaptcha($input: ValidateCaptchaInput!) {\n    validateCaptcha(input: $input) {\n      __typename\n      attestation\n      ... on CaptchaFailed { category }\n      ... on CaptchaIndeterminate { cause }\n    }\n  }\n"): (typeof documents)["\n  mutation ValidateCaptcha($input: ValidateCaptchaInput!) {\n    validateCaptcha(input: $input) {\n      __typename\n      attestation\n      ... on CaptchaFailed { category }\n      ... on CaptchaIndeterminate { cause }\n    }\n  }\n"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "\n  mutation PlaceOrder($input: PlaceOrderInput!) {\n    placeOrder(input: $input) {\n      __typename\n      ... on OrderPlaced { order { item priceCents customer { name } } }\n      ... on ChallengeRequired { reason audience action }\n      ... on OrderRefused { code }\n    }\n  }\n"): (typeof documents)["\n  mutation PlaceOrder($input: PlaceOrderInput!) {\n    placeOrder(input: $input) {\n      __typename\n      ... on OrderPlaced { order { item priceCents customer { name } } }\n      ... on ChallengeRequired { reason audience action }\n      ... on OrderRefused { code }\n    }\n  }\n"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;