/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
export type CaptchaAssurance =
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

export type DeviceClientType =
  | 'ANDROID'
  | 'IOS'
  | 'WEB_H5';

export type DeviceRiskAction =
  | 'ALLOW'
  | 'CHALLENGE'
  | 'DENY';

export type DeviceSignalEffect =
  | 'ALLOW'
  | 'DENY'
  | 'RISK';

export type NotJudgedReason =
  | 'OUTAGE'
  | 'TOKEN_REJECTED';

export type OrderRefusalCode =
  | 'UNDER_REVIEW'
  | 'UNKNOWN_ITEM'
  | 'UNVERIFIED';

export type SignalCode =
  | 'ANTIDETECT_BROWSER'
  | 'APP_CLONE_TOOL_INSTALLED'
  | 'AUTOMATION_TOOL_INSTALLED'
  | 'BEING_DEBUGGED'
  | 'BLACKLIST_ACCOUNT_ID'
  | 'BLACKLIST_DEVICE_FINGERPRINT'
  | 'BLACKLIST_IP'
  | 'BROWSER_COOKIE_FEATURE_DISABLED'
  | 'BROWSER_INCOGNITO_MODE'
  | 'CLOUD_PHONE'
  | 'DEBUG_MODE_OR_TEST_APP'
  | 'DEVICE_BOOTLOADER_UNLOCKED'
  | 'DEVICE_JAILBREAK'
  | 'DEVICE_ROOTED'
  | 'DEVICE_WITHOUT_SIM'
  | 'EMULATOR'
  | 'GAME_TAMPER_TOOL_INSTALLED'
  | 'HOOK_TAMPERING_HIGH'
  | 'HOOK_TAMPERING_LOW'
  | 'HOOK_TAMPERING_MEDIUM'
  | 'INVALID_PACKAGE'
  | 'IP_CRAWLER_OR_BOT'
  | 'IP_MALICIOUS_ATTACK'
  | 'IP_SUSPICIOUS_PROXY'
  | 'LIMIT_EXCEED'
  | 'NETWORK_PROXY'
  | 'NETWORK_TAMPER_TOOL_INSTALLED'
  | 'PSEUDO_BROWSER_ENV'
  | 'REVERSE_ENGINEERING_TOOL_INSTALLED'
  | 'RUNNING_IN_CLONED_APP'
  | 'RUNNING_IN_SYSTEM_CLONED'
  | 'RUNNING_IN_VIRTUAL_MACHINE'
  | 'RUNNING_ON_MACOS'
  | 'SCREEN_SHARING'
  | 'SUSPICIOUS_CUSTOM_ROM'
  | 'SUSPICIOUS_DEVICE_INFO_TAMPERED'
  | 'SUSPICIOUS_DEVICE_RESET'
  | 'SUSPICIOUS_OPEN_SOURCE_ROM'
  | 'SYSTEM_VERSION_TOO_LOW'
  | 'TAMPER_TOOL_INSTALLED'
  | 'TOKEN_EXPIRED'
  | 'USING_AUTOMATION_TOOL'
  | 'USING_DEVICE_TAMPERING_TOOL'
  | 'USING_REVERSE_ENGINEERING_TOOL'
  | 'USING_VIRTUAL_LOCATION'
  | 'VIRTUAL_LOCATION_TOOL_INSTALLED'
  | 'VOICE_CONNECTED'
  | 'VPN_ENABLED'
  | 'WHITELIST_ACCOUNT_ID'
  | 'WHITELIST_DEVICE_FINGERPRINT'
  | 'WHITELIST_IP';

export type SignalLevel =
  | 'HIGH'
  | 'LOW'
  | 'MEDIUM';

export type CheckoutsQueryVariables = Exact<{ [key: string]: never; }>;


export type CheckoutsQuery = { checkouts: Array<{ id: string, startedAt: string, item: string, status: CheckoutStatus, refusal: OrderRefusalCode | null, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, judgement: { decision: { rule: string } | null } | null, customer: { id: string, name: string } | null, order: { id: string } | null }> | null };

export type SummaryFragment = { id: string, startedAt: string, item: string, status: CheckoutStatus, refusal: OrderRefusalCode | null, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, customer: { id: string, name: string } | null, order: { id: string } | null };

export type CheckoutQueryVariables = Exact<{
  id: string | number;
}>;


export type CheckoutQuery = { checkout: { id: string, startedAt: string, item: string, status: CheckoutStatus, refusal: OrderRefusalCode | null, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, judgement: { judgedAt: string, eventType: string | null, eventId: string, requestId: string, clientType: DeviceClientType, deviceBasic:
        | { __typename: 'Mobile', model: string, architecture: string, os: { name: string | null, version: string | null } }
        | { __typename: 'Web', browser: { name: string | null, version: string | null }, device: { vendor: string | null, model: string | null }, os: { name: string | null, version: string | null } }
      , device: { id: string } | null, ipInfo: { ip: string } | null, signals: Array<{ name: string, code: SignalCode | null, level: SignalLevel, confidence: number, effect: DeviceSignalEffect | null, meaning: string | null }> | null, decision: { action: DeviceRiskAction, rule: string, policy: string } | null } | null, customer: { id: string, name: string } | null, order: { id: string } | null } | null };

export type JudgementFragment = { judgedAt: string, eventType: string | null, eventId: string, requestId: string, clientType: DeviceClientType, deviceBasic:
    | { __typename: 'Mobile', model: string, architecture: string, os: { name: string | null, version: string | null } }
    | { __typename: 'Web', browser: { name: string | null, version: string | null }, device: { vendor: string | null, model: string | null }, os: { name: string | null, version: string | null } }
  , device: { id: string } | null, ipInfo: { ip: string } | null, signals: Array<{ name: string, code: SignalCode | null, level: SignalLevel, confidence: number, effect: DeviceSignalEffect | null, meaning: string | null }> | null, decision: { action: DeviceRiskAction, rule: string, policy: string } | null };

export const SummaryFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Summary"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Checkout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"refusal"}},{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}}]}}]} as unknown as DocumentNode<SummaryFragment, unknown>;
export const JudgementFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Judgement"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceJudgement"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"judgedAt"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"clientType"}},{"kind":"Field","name":{"kind":"Name","value":"deviceBasic"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Mobile"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"architecture"}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Web"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"browser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"vendor"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"ipInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ip"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"effect"}},{"kind":"Field","name":{"kind":"Name","value":"meaning"}}]}},{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"policy"}}]}}]}}]} as unknown as DocumentNode<JudgementFragment, unknown>;
export const CheckoutsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Checkouts"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"checkouts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Summary"}},{"kind":"Field","name":{"kind":"Name","value":"judgement"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Summary"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Checkout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"refusal"}},{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}}]}}]} as unknown as DocumentNode<CheckoutsQuery, CheckoutsQueryVariables>;
export const CheckoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Checkout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"checkout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Summary"}},{"kind":"Field","name":{"kind":"Name","value":"judgement"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Judgement"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Summary"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Checkout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"refusal"}},{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Judgement"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceJudgement"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"judgedAt"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"clientType"}},{"kind":"Field","name":{"kind":"Name","value":"deviceBasic"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Mobile"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"architecture"}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Web"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"browser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"vendor"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"ipInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ip"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"effect"}},{"kind":"Field","name":{"kind":"Name","value":"meaning"}}]}},{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"policy"}}]}}]}}]} as unknown as DocumentNode<CheckoutQuery, CheckoutQueryVariables>;