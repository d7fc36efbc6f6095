/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type CaptchaAssurance =
  | 'NOT_SOLVED'
  | 'UNVERIFIED'
  | 'VERIFIED';

export type CheckoutDecision =
  | 'ALLOW'
  | 'CHALLENGE'
  | 'DENY'
  | 'NOT_JUDGED';

export type CheckoutStatus =
  | 'CHALLENGED'
  | 'PLACED'
  | 'REFUSED';

export type NotJudgedReason =
  | 'OUTAGE'
  | 'TOKEN_REJECTED';

export type CheckoutsQueryVariables = Exact<{ [key: string]: never; }>;


export type CheckoutsQuery = { checkouts: Array<{ startedAt: string, item: string, status: CheckoutStatus, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, customer: { name: string } | null, judgement: { decision: { rule: string } | null, signals: Array<{ name: string }> | null } | null }> | null };


export const CheckoutsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Checkouts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"checkouts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}},{"kind":"Field","name":{"kind":"Name","value":"judgement"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]}}]} as unknown as DocumentNode<CheckoutsQuery, CheckoutsQueryVariables>;