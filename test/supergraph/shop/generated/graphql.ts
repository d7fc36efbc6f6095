/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Why the service rejected a challenge. */
export type CaptchaFailureCategory =
  /** The service did not accept our signature: the key configured for this captcha id is wrong. Tell the platform team. */
  | 'ILLEGAL_SIGN_TOKEN'
  /** The serial number is not the one of this challenge: values of two challenges were mixed, the request was tampered with, or the service answered for another challenge. */
  | 'LOT_NUMBER_MISMATCH'
  /** A reason or a result that this contract does not know yet: read `reason`. */
  | 'OTHER'
  /** Solved too long ago: let the person solve a new challenge. */
  | 'PASS_TOKEN_EXPIRED';

/** Who can have caused a verification without a verdict. */
export type CaptchaIndeterminateCause =
  /** What was sent: values used twice, expired, unknown or malformed, or a request that was refused as such. Also a pass that is not entirely as documented. Anyone can provoke this, so `proceed` is false by default. */
  | 'CLIENT'
  /** The captcha id or its settings: missing, unknown, deleted or paused, or it has never worked since this process started. The platform team has to act. By default `proceed` is true only for the captcha id that is used when none is named, and only if it has worked and is now refused for everybody, because a caller could name another one on purpose. */
  | 'CONFIGURATION'
  /** The captcha service itself failed. By default `proceed` is true only in a confirmed outage. */
  | 'SERVICE'
  /** No usable answer: unreachable, too slow, or something that is no answer of the service. By default `proceed` is true only in a confirmed outage. */
  | 'TRANSPORT';

/** Why a captcha is needed before something is ordered. */
export type ChallengeReason =
  /** The attestation is too old. */
  | 'EXPIRED'
  /** The attestation is not one for this order: changed, or for another service, action or person. */
  | 'INVALID'
  /** There was no attestation. */
  | 'MISSING'
  /** Something else was ordered with this attestation. */
  | 'SPENT';

/** Why an order is refused. */
export type OrderRefusalCode =
  /** The last one is gone. The attestation is still good for another item. */
  | 'SOLD_OUT'
  /** We'll look into it. */
  | 'UNDER_REVIEW'
  /** The shop has no such item. */
  | 'UNKNOWN_ITEM'
  /** Too little could be verified about the device or the captcha for an item of this price. Try again later. */
  | 'UNVERIFIED';

/** What to order, from which device, and with which proof. */
export type PlaceOrderInput = {
  /** The `attestation` of `validateCaptcha`. A credential: send it as a variable. */
  attestation?: string | null | undefined;
  /** Made by the page, once for each purchase: 1 to 64 letters, digits, `_` or `-`. */
  checkoutId: string | number;
  /** The `device_token` of the client SDK. A credential: send it as a variable. */
  deviceToken: string;
  /** What is bought. */
  item: string;
};

/** The values of a solved challenge. They come from the captcha widget; pass them on untouched. */
export type ValidateCaptchaInput = {
  /** What the person wants to do there, such as `placeOrder`: one of the actions that the operator configured for this audience. */
  action?: string | null | undefined;
  /**
   * The service that shall see the proof, such as `orders`: name it to get an `attestation`. The operator configures which
   * services there are. Give it together with `action`, or leave both out.
   */
  audience?: string | number | null | undefined;
  /**
   * The captcha id with which the widget was started. Leave it out to use the first one configured in this subgraph. It is a
   * public identifier, not a secret.
   */
  captchaId?: string | number | null | undefined;
  /** What the widget reports about how the challenge was solved. Opaque: pass it on as it is. */
  captchaOutput: string;
  /** When the challenge was passed: 1 to 20 digits, as a string. */
  genTime: string;
  /** Serial number of the solved challenge. */
  lotNumber: string;
  /** The widget's proof that the challenge was passed. */
  passToken: string;
};

export type ValidateCaptchaMutationVariables = Exact<{
  input: ValidateCaptchaInput;
}>;


export type ValidateCaptchaMutation = { validateCaptcha:
    | { __typename: 'CaptchaFailed', category: CaptchaFailureCategory, attestation: string | null }
    | { __typename: 'CaptchaIndeterminate', cause: CaptchaIndeterminateCause, attestation: string | null }
    | { __typename: 'CaptchaPassed', attestation: string | null }
   | null };

export type PlaceOrderMutationVariables = Exact<{
  input: PlaceOrderInput;
}>;


export type PlaceOrderMutation = { placeOrder:
    | { __typename: 'ChallengeRequired', reason: ChallengeReason, audience: string, action: string }
    | { __typename: 'OrderPlaced', order: { id: string, number: string, item: string, priceCents: number, customer: { name: string } | null } }
    | { __typename: 'OrderRefused', code: OrderRefusalCode }
   | null };


export const ValidateCaptchaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ValidateCaptcha"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ValidateCaptchaInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"validateCaptcha"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"attestation"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CaptchaFailed"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"category"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CaptchaIndeterminate"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cause"}}]}}]}}]}}]} as unknown as DocumentNode<ValidateCaptchaMutation, ValidateCaptchaMutationVariables>;
export const PlaceOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"PlaceOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PlaceOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"placeOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderPlaced"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"priceCents"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChallengeRequired"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"audience"}},{"kind":"Field","name":{"kind":"Name","value":"action"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderRefused"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}}]}}]}}]}}]} as unknown as DocumentNode<PlaceOrderMutation, PlaceOrderMutationVariables>;