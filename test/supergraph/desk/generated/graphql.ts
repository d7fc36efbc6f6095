/* eslint-disable */
/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What a captcha is worth. */
export type CaptchaAssurance =
  /** Its service was down, so nobody knows whether a person solved it. */
  | 'UNVERIFIED'
  /** The captcha service verified it. */
  | 'VERIFIED';

/** What was decided about a checkout. */
export type CheckoutDecision =
  /** Go on. */
  | 'ALLOW'
  /** Ask for a captcha. */
  | 'CHALLENGE'
  /** Refuse. */
  | 'DENY'
  /** Nothing, because there is no judgement. */
  | 'NOT_JUDGED';

/** What became of a checkout. */
export type CheckoutStatus =
  /** The customer was asked for a captcha, and has not placed the order since. */
  | 'CHALLENGED'
  /** The order was placed. */
  | 'PLACED'
  /** The shop refused. */
  | 'REFUSED';

/** The client SDK that produced a token. */
export type DeviceClientType =
  /** An Android app. */
  | 'ANDROID'
  /** An iOS app. */
  | 'IOS'
  /** A web page. */
  | 'WEB_H5';

/** What to do about a device. */
export type DeviceRiskAction =
  /** Go on. */
  | 'ALLOW'
  /** Let the person prove more first, for example with a captcha. */
  | 'CHALLENGE'
  /** Do not go on, and do not tell the person why. */
  | 'DENY';

/** What a signal asks for. Read this and not the name: the service's lists are called the opposite of what they do. */
export type DeviceSignalEffect =
  /** Is on one of your whitelists: let through. These are the signals named `BLACKLIST_…`. */
  | 'ALLOW'
  /** Is on one of your blacklists: refuse. These are the signals named `WHITELIST_…`. */
  | 'DENY'
  /** Counts towards risk. */
  | 'RISK';

/** Why the device of a checkout was not judged. */
export type NotJudgedReason =
  /** Device-trust gave no answer. */
  | 'OUTAGE'
  /** Nobody asked, because the item is sold out. */
  | 'SOLD_OUT'
  /** The token is none that the client SDK made, so it is probably forged. */
  | 'TOKEN_REJECTED';

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

/** Every signal that the fingerprint service documents. */
export type SignalCode =
  /** The browser is built to escape detection. */
  | 'ANTIDETECT_BROWSER'
  /** A tool that clones apps is installed. */
  | 'APP_CLONE_TOOL_INSTALLED'
  /** A tool for automation or for controlling many devices at once is installed. */
  | 'AUTOMATION_TOOL_INSTALLED'
  /** A debugger can attach to the device or already has. */
  | 'BEING_DEBUGGED'
  /** The account is on your whitelist, in spite of the name. */
  | 'BLACKLIST_ACCOUNT_ID'
  /** The device is on your whitelist, in spite of the name. */
  | 'BLACKLIST_DEVICE_FINGERPRINT'
  /** The IP address is on your whitelist, in spite of the name. */
  | 'BLACKLIST_IP'
  /** The browser cannot use cookies. */
  | 'BROWSER_COOKIE_FEATURE_DISABLED'
  /** The browser window is a private one. */
  | 'BROWSER_INCOGNITO_MODE'
  /** The device is a rented cloud phone or runs on an ARM server. */
  | 'CLOUD_PHONE'
  /** Debug mode is on, or the app is a debug or cracked build from outside a store. */
  | 'DEBUG_MODE_OR_TEST_APP'
  /** The bootloader is unlocked. */
  | 'DEVICE_BOOTLOADER_UNLOCKED'
  /** The iOS device is jailbroken. */
  | 'DEVICE_JAILBREAK'
  /** The Android device is rooted. */
  | 'DEVICE_ROOTED'
  /** No SIM card was found. */
  | 'DEVICE_WITHOUT_SIM'
  /** The device is an emulator of an older kind. */
  | 'EMULATOR'
  /** A tool that modifies games is installed. */
  | 'GAME_TAMPER_TOOL_INSTALLED'
  /** Code was altered, high risk. */
  | 'HOOK_TAMPERING_HIGH'
  /** Code may have been altered, low risk; rule out your own instrumentation before you act on this. */
  | 'HOOK_TAMPERING_LOW'
  /** Code was altered; the logic of the app may have changed. */
  | 'HOOK_TAMPERING_MEDIUM'
  /** The app was repackaged, or its package name altered. */
  | 'INVALID_PACKAGE'
  /** The IP address is known for crawling or cracking. */
  | 'IP_CRAWLER_OR_BOT'
  /** The IP address is known for attacks. */
  | 'IP_MALICIOUS_ATTACK'
  /** The IP address is probably a proxy. */
  | 'IP_SUSPICIOUS_PROXY'
  /** Some limit was exceeded. */
  | 'LIMIT_EXCEED'
  /** A network proxy is switched on. */
  | 'NETWORK_PROXY'
  /** A tool that alters network traffic is installed. */
  | 'NETWORK_TAMPER_TOOL_INSTALLED'
  /** What claims to be a browser is not one. */
  | 'PSEUDO_BROWSER_ENV'
  /** A tool for reverse engineering is installed. */
  | 'REVERSE_ENGINEERING_TOOL_INSTALLED'
  /** The app runs as a clone beside the original. */
  | 'RUNNING_IN_CLONED_APP'
  /** The app may run in a second instance that the system made. */
  | 'RUNNING_IN_SYSTEM_CLONED'
  /** The app runs in a virtual machine. */
  | 'RUNNING_IN_VIRTUAL_MACHINE'
  /** The mobile app runs on a Mac. */
  | 'RUNNING_ON_MACOS'
  /** The screen is being shared. */
  | 'SCREEN_SHARING'
  /** The Android device runs a custom ROM of doubtful origin. */
  | 'SUSPICIOUS_CUSTOM_ROM'
  /** Device attributes were forged: they contradict its fingerprint. */
  | 'SUSPICIOUS_DEVICE_INFO_TAMPERED'
  /** The device was probably reset to shed its history. */
  | 'SUSPICIOUS_DEVICE_RESET'
  /** The Android device runs a ROM from an open-source project. */
  | 'SUSPICIOUS_OPEN_SOURCE_ROM'
  /** The operating system is very old. */
  | 'SYSTEM_VERSION_TOO_LOW'
  /** A tool that modifies apps or devices is installed. */
  | 'TAMPER_TOOL_INSTALLED'
  /** The device token is too old, or was used before. */
  | 'TOKEN_EXPIRED'
  /** A tool for automation or for controlling many devices at once is in use. */
  | 'USING_AUTOMATION_TOOL'
  /** A tool that modifies apps or devices is in use. */
  | 'USING_DEVICE_TAMPERING_TOOL'
  /** A tool for reverse engineering is in use. */
  | 'USING_REVERSE_ENGINEERING_TOOL'
  /** The location is being faked. */
  | 'USING_VIRTUAL_LOCATION'
  /** A tool that fakes the location is installed. */
  | 'VIRTUAL_LOCATION_TOOL_INSTALLED'
  /** A voice call is in progress. */
  | 'VOICE_CONNECTED'
  /** A VPN is switched on. */
  | 'VPN_ENABLED'
  /** The account is on your blacklist, in spite of the name. */
  | 'WHITELIST_ACCOUNT_ID'
  /** The device is on your blacklist, in spite of the name. */
  | 'WHITELIST_DEVICE_FINGERPRINT'
  /** The IP address is on your blacklist, in spite of the name. */
  | 'WHITELIST_IP';

/** How serious a signal is, from `LOW` to `HIGH`. */
export type SignalLevel =
  /** Worth acting on. */
  | 'HIGH'
  /** Worth knowing. */
  | 'LOW'
  /** Worth a second look. */
  | 'MEDIUM';

export type CheckoutsQueryVariables = Exact<{
  decision?: CheckoutDecision | null | undefined;
}>;


export type CheckoutsQuery = { checkouts: Array<{ id: string, startedAt: string, item: string, status: CheckoutStatus, refusal: OrderRefusalCode | null, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, judgement: { decision: { rule: string } | null } | null, customer: { id: string, name: string } | null, order: { id: string, number: string } | null }> | null };

export type SummaryFragment = { id: string, startedAt: string, item: string, status: CheckoutStatus, refusal: OrderRefusalCode | null, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, customer: { id: string, name: string } | null, order: { id: string, number: string } | null };

export type CheckoutQueryVariables = Exact<{
  id: string | number;
}>;


export type CheckoutQuery = { checkout: { id: string, startedAt: string, item: string, status: CheckoutStatus, refusal: OrderRefusalCode | null, captcha: CaptchaAssurance | null, decision: CheckoutDecision, notJudged: NotJudgedReason | null, judgement: { judgedAt: string, eventType: string | null, eventId: string, requestId: string, clientType: DeviceClientType, deviceBasic:
        | { __typename: 'Mobile', model: string, architecture: string, os: { name: string | null, version: string | null } }
        | { __typename: 'Web', browser: { name: string | null, version: string | null }, device: { vendor: string | null, model: string | null }, os: { name: string | null, version: string | null } }
      , device: { id: string } | null, ipInfo: { ip: string } | null, signals: Array<{ name: string, code: SignalCode | null, level: SignalLevel, confidence: number, effect: DeviceSignalEffect | null, meaning: string | null }> | null, decision: { action: DeviceRiskAction, rule: string, policy: string } | null } | null, customer: { id: string, name: string } | null, order: { id: string, number: string } | null } | null };

export type JudgementFragment = { judgedAt: string, eventType: string | null, eventId: string, requestId: string, clientType: DeviceClientType, deviceBasic:
    | { __typename: 'Mobile', model: string, architecture: string, os: { name: string | null, version: string | null } }
    | { __typename: 'Web', browser: { name: string | null, version: string | null }, device: { vendor: string | null, model: string | null }, os: { name: string | null, version: string | null } }
  , device: { id: string } | null, ipInfo: { ip: string } | null, signals: Array<{ name: string, code: SignalCode | null, level: SignalLevel, confidence: number, effect: DeviceSignalEffect | null, meaning: string | null }> | null, decision: { action: DeviceRiskAction, rule: string, policy: string } | null };

export const SummaryFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Summary"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Checkout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"refusal"}},{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}}]}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}}]}}]} as unknown as DocumentNode<SummaryFragment, unknown>;
export const JudgementFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Judgement"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceJudgement"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"judgedAt"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"clientType"}},{"kind":"Field","name":{"kind":"Name","value":"deviceBasic"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Mobile"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"architecture"}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Web"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"browser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"vendor"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"ipInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ip"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"effect"}},{"kind":"Field","name":{"kind":"Name","value":"meaning"}}]}},{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"policy"}}]}}]}}]} as unknown as DocumentNode<JudgementFragment, unknown>;
export const CheckoutsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Checkouts"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"decision"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"CheckoutDecision"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"checkouts"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"100"}},{"kind":"Argument","name":{"kind":"Name","value":"decision"},"value":{"kind":"Variable","name":{"kind":"Name","value":"decision"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Summary"}},{"kind":"Field","name":{"kind":"Name","value":"judgement"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"rule"}}]}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Summary"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Checkout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"refusal"}},{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}}]}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}}]}}]} as unknown as DocumentNode<CheckoutsQuery, CheckoutsQueryVariables>;
export const CheckoutDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Checkout"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"checkout"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Summary"}},{"kind":"Field","name":{"kind":"Name","value":"judgement"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"Judgement"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Summary"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Checkout"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"startedAt"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"refusal"}},{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"number"}}]}},{"kind":"Field","name":{"kind":"Name","value":"captcha"}},{"kind":"Field","name":{"kind":"Name","value":"decision"}},{"kind":"Field","name":{"kind":"Name","value":"notJudged"}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Judgement"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceJudgement"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"judgedAt"}},{"kind":"Field","name":{"kind":"Name","value":"eventType"}},{"kind":"Field","name":{"kind":"Name","value":"eventId"}},{"kind":"Field","name":{"kind":"Name","value":"requestId"}},{"kind":"Field","name":{"kind":"Name","value":"clientType"}},{"kind":"Field","name":{"kind":"Name","value":"deviceBasic"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Mobile"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"architecture"}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Web"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"browser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"vendor"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"ipInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ip"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"effect"}},{"kind":"Field","name":{"kind":"Name","value":"meaning"}}]}},{"kind":"Field","name":{"kind":"Name","value":"decision"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"action"}},{"kind":"Field","name":{"kind":"Name","value":"rule"}},{"kind":"Field","name":{"kind":"Name","value":"policy"}}]}}]}}]} as unknown as DocumentNode<CheckoutQuery, CheckoutQueryVariables>;