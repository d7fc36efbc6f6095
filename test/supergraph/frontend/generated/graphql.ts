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

/** The client SDK that produced a token. */
export type ClientType =
  /** An Android app. */
  | 'ANDROID'
  /** An iOS app. */
  | 'IOS'
  /** A web page. */
  | 'WEB_H5';

/** Why the service rejected what the client sent. */
export type DeviceFingerprintRejectionReason =
  /** Another argument is not acceptable: `errors` says which. */
  | 'INVALID_INPUT'
  /** The token is not one that the service issued: let the client SDK make a new one. */
  | 'INVALID_TOKEN';

/** Why an order is refused. */
export type OrderRefusalCode =
  /** The last one is gone. The attestation is still good for another item. */
  | 'SOLD_OUT'
  /** We'll look into it. */
  | 'UNDER_REVIEW'
  /** The shop has no such item. */
  | 'UNKNOWN_ITEM'
  /** The captcha could not be verified because its service is down, and the item costs too much to go without. Try again later. */
  | 'UNVERIFIED';

/** How far an order has come. */
export type OrderStatus =
  /** Paid, and not yet on its way. */
  | 'PAID'
  /** Placed, and not yet paid. */
  | 'PLACED'
  /** On its way, or there. */
  | 'SHIPPED';

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

/** What a signal asks for. Read this and not the name: the service's lists are called the opposite of what they do. */
export type SignalEffect =
  /** Is on one of your whitelists: let through. These are the signals named `BLACKLIST_…`. */
  | 'ALLOW'
  /** Is on one of your blacklists: refuse. These are the signals named `WHITELIST_…`. */
  | 'DENY'
  /** Counts towards risk. */
  | 'RISK';

/** How serious a signal is, from `LOW` to `HIGH`. */
export type SignalLevel =
  /** Worth acting on. */
  | 'HIGH'
  /** Worth knowing. */
  | 'LOW'
  /** Worth a second look. */
  | 'MEDIUM';

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

export type JudgeDeviceQueryVariables = Exact<{
  token: string;
}>;


export type JudgeDeviceQuery = { deviceFingerprint:
    | { __typename: 'DeviceFingerprint', clientType: ClientType, device: { id: string } | null, deviceBasic:
        | { __typename: 'Mobile', model: string, architecture: string, os: { name: string | null, version: string | null } }
        | { __typename: 'Web', browser: { name: string | null, version: string | null }, device: { vendor: string | null, model: string | null }, os: { name: string | null, version: string | null } }
      , ipInfo: { ip: string } | null, signals: Array<{ name: string, code: SignalCode | null, level: SignalLevel, confidence: number, effect: SignalEffect | null, meaning: string | null }> | null }
    | { __typename: 'DeviceFingerprintRejected', reason: DeviceFingerprintRejectionReason, errors: Array<{ field: string, reason: string, type: string }> }
   | null };

export type JudgementFragment = { clientType: ClientType, device: { id: string } | null, deviceBasic:
    | { __typename: 'Mobile', model: string, architecture: string, os: { name: string | null, version: string | null } }
    | { __typename: 'Web', browser: { name: string | null, version: string | null }, device: { vendor: string | null, model: string | null }, os: { name: string | null, version: string | null } }
  , ipInfo: { ip: string } | null, signals: Array<{ name: string, code: SignalCode | null, level: SignalLevel, confidence: number, effect: SignalEffect | null, meaning: string | null }> | null };

export type RejectionFragment = { reason: DeviceFingerprintRejectionReason, errors: Array<{ field: string, reason: string, type: string }> };

export type ValidateCaptchaMutationVariables = Exact<{
  input: ValidateCaptchaInput;
}>;


export type ValidateCaptchaMutation = { validateCaptcha:
    | { __typename: 'CaptchaFailed', category: CaptchaFailureCategory, reason: string, attestation: string | null }
    | { __typename: 'CaptchaIndeterminate', cause: CaptchaIndeterminateCause, message: string, attestation: string | null }
    | { __typename: 'CaptchaPassed', attestation: string | null, details: { usedType: string | null, scene: string | null } }
   | null };

export type PlaceOrderMutationVariables = Exact<{
  input: PlaceOrderInput;
}>;


export type PlaceOrderMutation = { placeOrder:
    | { __typename: 'ChallengeRequired', reason: ChallengeReason, audience: string, action: string }
    | { __typename: 'OrderPlaced', order: { id: string, item: string, priceCents: number, status: OrderStatus, customer: { name: string } } }
    | { __typename: 'OrderRefused', code: OrderRefusalCode }
   | null };

export const JudgementFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Judgement"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceFingerprint"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientType"}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"deviceBasic"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Mobile"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"architecture"}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Web"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"browser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"vendor"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"ipInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ip"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"effect"}},{"kind":"Field","name":{"kind":"Name","value":"meaning"}}]}}]}}]} as unknown as DocumentNode<JudgementFragment, unknown>;
export const RejectionFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Rejection"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceFingerprintRejected"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"errors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"type"}}]}}]}}]} as unknown as DocumentNode<RejectionFragment, unknown>;
export const JudgeDeviceDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"JudgeDevice"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deviceFingerprint"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"token"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token"}}},{"kind":"Argument","name":{"kind":"Name","value":"eventType"},"value":{"kind":"StringValue","value":"checkout","block":false}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"Judgement"}},{"kind":"FragmentSpread","name":{"kind":"Name","value":"Rejection"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Judgement"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceFingerprint"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"clientType"}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}}]}},{"kind":"Field","name":{"kind":"Name","value":"deviceBasic"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Mobile"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"model"}},{"kind":"Field","name":{"kind":"Name","value":"architecture"}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Web"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"browser"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}},{"kind":"Field","name":{"kind":"Name","value":"device"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"vendor"}},{"kind":"Field","name":{"kind":"Name","value":"model"}}]}},{"kind":"Field","name":{"kind":"Name","value":"os"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"version"}}]}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"ipInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"ip"}}]}},{"kind":"Field","name":{"kind":"Name","value":"signals"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"code"}},{"kind":"Field","name":{"kind":"Name","value":"level"}},{"kind":"Field","name":{"kind":"Name","value":"confidence"}},{"kind":"Field","name":{"kind":"Name","value":"effect"}},{"kind":"Field","name":{"kind":"Name","value":"meaning"}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"Rejection"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"DeviceFingerprintRejected"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"errors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"field"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"type"}}]}}]}}]} as unknown as DocumentNode<JudgeDeviceQuery, JudgeDeviceQueryVariables>;
export const ValidateCaptchaDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"ValidateCaptcha"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ValidateCaptchaInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"validateCaptcha"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"attestation"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CaptchaPassed"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"details"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usedType"}},{"kind":"Field","name":{"kind":"Name","value":"scene"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CaptchaFailed"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"category"}},{"kind":"Field","name":{"kind":"Name","value":"reason"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CaptchaIndeterminate"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"cause"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]} as unknown as DocumentNode<ValidateCaptchaMutation, ValidateCaptchaMutationVariables>;
export const PlaceOrderDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"PlaceOrder"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"PlaceOrderInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"placeOrder"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderPlaced"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"order"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"item"}},{"kind":"Field","name":{"kind":"Name","value":"priceCents"}},{"kind":"Field","name":{"kind":"Name","value":"status"}},{"kind":"Field","name":{"kind":"Name","value":"customer"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ChallengeRequired"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"reason"}},{"kind":"Field","name":{"kind":"Name","value":"audience"}},{"kind":"Field","name":{"kind":"Name","value":"action"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"OrderRefused"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"code"}}]}}]}}]}}]} as unknown as DocumentNode<PlaceOrderMutation, PlaceOrderMutationVariables>;