export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /**
   * A point in time in RFC 3339 form with an offset, such as `2026-03-01T09:30:00+01:00` or `2026-03-01T08:30:00Z`. The fingerprint
   * service gets the text unchanged, with all fractional digits.
   */
  DateTime: { input: string; output: string; }
  /**
   * Any JSON object. Its keys are not part of this contract: rely neither on their presence nor on their types. An object that you send
   * may have 32 levels, and integers up to 2^53, because larger ones would arrive as different numbers.
   */
  JSONObject: { input: Record<string, unknown>; output: Record<string, unknown>; }
  _FieldSet: { input: string; output: string; }
};

/** The service's data about a solved challenge. */
export type CaptchaDetails = {
  __typename?: 'CaptchaDetails';
  /** Serial number of the challenge, as you sent it. */
  lotNumber: Scalars['String']['output'];
  /** Page on which the challenge was shown. Null if the service omitted it. */
  referer?: Maybe<Scalars['String']['output']>;
  /** Scenario configured for the challenge, such as a login page. Null if the service omitted it. */
  scene?: Maybe<Scalars['String']['output']>;
  /** Kind of challenge, such as `slide`, `icon` or `nine-grid`. New kinds may appear. Null if the service omitted it. */
  usedType?: Maybe<Scalars['String']['output']>;
  /** IP address from which the challenge was solved. Null if the service omitted it. */
  userIp?: Maybe<Scalars['String']['output']>;
};

/** The service rejected the challenge. `proceed` is false under every policy. */
export type CaptchaFailed = CaptchaValidation & {
  __typename?: 'CaptchaFailed';
  /** Always null here: a rejected challenge proves nothing. */
  attestation?: Maybe<Scalars['String']['output']>;
  /** The reason for the rejection, for programs. */
  category: CaptchaFailureCategory;
  /** The service's data about the rejected challenge. */
  details: CaptchaFailureDetails;
  /** Always false here. */
  proceed: Scalars['Boolean']['output'];
  /** The service's reason for the rejection, such as `pass_token expire`; may be empty. For logs; programs read `category`. */
  reason: Scalars['String']['output'];
};

/** Why the service rejected a challenge. */
export type CaptchaFailureCategory =
  /** The service did not accept our signature: the key configured for this captcha id is wrong. Tell the platform team. */
  | 'ILLEGAL_SIGN_TOKEN'
  /** The serial number belongs to another challenge: values of two challenges were mixed, the request was altered, or the service answered for another challenge. */
  | 'LOT_NUMBER_MISMATCH'
  /** A reason or result that this schema does not know yet: read `reason`. */
  | 'OTHER'
  /** Solved too long ago: let the person solve a new challenge. */
  | 'PASS_TOKEN_EXPIRED';

/** The service's data about a rejected challenge. */
export type CaptchaFailureDetails = {
  __typename?: 'CaptchaFailureDetails';
  /** Serial number of the challenge, from the service's response. */
  lotNumber: Scalars['String']['output'];
  /** Kind of challenge, such as `slide`, `icon` or `nine-grid`. New kinds may appear. Null if the service omitted it. */
  usedType?: Maybe<Scalars['String']['output']>;
  /** IP address from which the challenge was solved. Null if the service omitted it. */
  userIp?: Maybe<Scalars['String']['output']>;
};

/**
 * The service gave no verdict. The configured policy decides `proceed`. By default it is true only in an outage that this subgraph
 * has confirmed with its own requests, because bots can make their own verification fail. The vendor's advice, to let each such
 * request proceed, is the policy `always`. A captcha id that the service has paused or deleted counts as an outage, too. In an
 * outage, about twice as many captchas may proceed per minute as usually pass.
 */
export type CaptchaIndeterminate = CaptchaValidation & {
  __typename?: 'CaptchaIndeterminate';
  /**
   * In a confirmed outage of the captcha service, a proof with the claim `assurance: unverified`. The service named by `audience`
   * decides whether that is enough. Otherwise null, even if a policy makes `proceed` true: `message` says so.
   */
  attestation?: Maybe<Scalars['String']['output']>;
  /** The possible cause. */
  cause: CaptchaIndeterminateCause;
  /** The service's exception code, such as `-50003`. Null without a response, or without a code in it. */
  code?: Maybe<Scalars['String']['output']>;
  /** For people: the problem and the next step, or the reason for proceeding without an attestation. */
  message: Scalars['String']['output'];
  /** Decided by the configured policy. If false, do what `message` says, for example try again in a minute. */
  proceed: Scalars['Boolean']['output'];
  /** The service's name for the kind of exception. Null if it gave none. */
  type?: Maybe<Scalars['String']['output']>;
};

/** The possible cause of a verification without a verdict. */
export type CaptchaIndeterminateCause =
  /** The client: its values were used before, expired, unknown or malformed, or the service refused the request with an HTTP status from 400 to 499. Also a pass that contradicts itself. Anyone can provoke this, so `proceed` is false by default. */
  | 'CLIENT'
  /** The captcha id or its settings are missing, unknown, deleted or paused, or the service has not worked since this process started. The platform team has to act. By default `proceed` is true only in a confirmed outage of an id that worked before: otherwise anyone could name a dead id to skip the captcha. */
  | 'CONFIGURATION'
  /** The captcha service itself failed. By default `proceed` is true only in a confirmed outage. */
  | 'SERVICE'
  /** No usable response: the service was unreachable or too slow, or another server answered in its place, for example with an error page. By default `proceed` is true only in a confirmed outage, and never once part of the body of a 200 has arrived, because it may be a rejection. */
  | 'TRANSPORT';

/** The service confirmed that this challenge was solved. `proceed` is true. */
export type CaptchaPassed = CaptchaValidation & {
  __typename?: 'CaptchaPassed';
  /** The proof for the service named by `audience`. Its claim `assurance` is `verified`. Null only with `BAD_USER_INPUT`, if the input names no `audience`. */
  attestation?: Maybe<Scalars['String']['output']>;
  /** The service's data about the solved challenge. */
  details: CaptchaDetails;
  /** Always true here. */
  proceed: Scalars['Boolean']['output'];
};

/** The outcome of a captcha verification. A page needs only `proceed`. The fields of the concrete types explain the outcome. */
export type CaptchaValidation = {
  /**
   * A signed proof of this outcome for the service named by `audience`. Pass it on as an input of the protected mutation. The
   * service verifies it with the keys at `/.well-known/jwks.json` of this subgraph, and accepts it once. It is valid for 120
   * seconds by default.
   *
   * Null if the outcome proves nothing, as each concrete type explains. Null with `BAD_USER_INPUT` if the input names no
   * `audience`.
   */
  attestation?: Maybe<Scalars['String']['output']>;
  /** Whether the protected business request may proceed. */
  proceed: Scalars['Boolean']['output'];
};

/**
 * The assessment of a device, made just now (`DeviceFingerprint`) or stored (`DeviceJudgement`). One fragment on it reads both. The
 * concrete types explain when a field is null.
 */
export type DeviceAssessment = {
  /** The client SDK that produced the token. */
  clientType: DeviceClientType;
  /** The risk policy's decision at the time of the judgement. */
  decision?: Maybe<DeviceRiskDecision>;
  /** The device itself, for other subgraphs to extend. */
  device?: Maybe<FingerprintDevice>;
  /** The kind of machine. Select with fragments on `Mobile` and `Web`. Null for the `clientType` `OTHER`. */
  deviceBasic?: Maybe<DeviceBasic>;
  /** Identifies the event; quote it to the fingerprint service's support. */
  eventId: Scalars['ID']['output'];
  /** The network origin of the request. */
  ipInfo?: Maybe<IpInfo>;
  /** The application whose credentials were used. */
  publicKey: Scalars['ID']['output'];
  /** Identifies the analysis of the token. */
  requestId: Scalars['ID']['output'];
  /** The signals that fired. A signal has to pass both filters; each includes its limit. */
  signals?: Maybe<Array<Signal>>;
  /** Version of the fingerprint method. */
  version: Scalars['String']['output'];
};


/**
 * The assessment of a device, made just now (`DeviceFingerprint`) or stored (`DeviceJudgement`). One fragment on it reads both. The
 * concrete types explain when a field is null.
 */
export type DeviceAssessmentSignalsArgs = {
  minConfidence?: InputMaybe<Scalars['Float']['input']>;
  minLevel?: InputMaybe<SignalLevel>;
};

/** The kind of machine: `Mobile` for an Android or iOS app, `Web` for a page. Other types may follow. */
export type DeviceBasic = Mobile | Web;

/** The client SDK that produced a token. */
export type DeviceClientType =
  /** An Android app. */
  | 'ANDROID'
  /** An iOS app. */
  | 'IOS'
  /** A client type that this subgraph does not know yet. */
  | 'OTHER'
  /** A web page. */
  | 'WEB_H5';

/** One error in the arguments. */
export type DeviceFieldError = {
  __typename?: 'DeviceFieldError';
  /** The argument by its name here, such as `eventTime` or `metadata.email`. If it has no name here, its name at the service. */
  field: Scalars['String']['output'];
  /** The problem, in the service's words. For logs and support, not for end users. */
  reason: Scalars['String']['output'];
  /** The kind of problem, for programs, such as `missing` or `value_error`. */
  type: Scalars['String']['output'];
};

/**
 * A judged device. Other subgraphs refer to it by the token alone, or by token and application. If a reference fails, for example
 * with `DEVICE_TOKEN_REJECTED`, a router returns null in its nullable fields, or null for the whole entity if you also select a
 * non-null field, such as `eventId`. Each reference is an event, so tag each field that returns one as `billed`: otherwise a contract
 * that excludes `billed` does not compose.
 *
 * `device`, `ipInfo`, `signals`, `decision` and `judgement` are null only with an entry in `errors`. Where scopes are enforced, a
 * request without the scope `risk:read` gets `FORBIDDEN` for them, and everything else as usual. A response has at most 100 such
 * entries. The last one says that others are omitted.
 */
export type DeviceFingerprint = DeviceAssessment & {
  __typename?: 'DeviceFingerprint';
  /** The client SDK that produced the token. */
  clientType: DeviceClientType;
  /**
   * The decision of your company's risk policy about this device, so that no team has to interpret signals. The policy uses all
   * signals, even those outside the filters of `signals`. The decision causes no further call. Null with `FORBIDDEN` like `device`.
   *
   * A policy can have rules for one `eventType`. They match only below `Query.deviceFingerprint` with this argument: a reference
   * from another subgraph has no event type.
   */
  decision?: Maybe<DeviceRiskDecision>;
  /** The device itself, for other subgraphs to extend. Null with `FORBIDDEN` without the scope `risk:read`, where scopes are enforced. */
  device?: Maybe<FingerprintDevice>;
  /** The kind of machine. Select with fragments on `Mobile` and `Web`. Null for the `clientType` `OTHER`. */
  deviceBasic?: Maybe<DeviceBasic>;
  /** Identifies this one query; quote it to the fingerprint service's support. */
  eventId: Scalars['ID']['output'];
  /** The network origin of the request. Null with `FORBIDDEN` like `device`. */
  ipInfo?: Maybe<IpInfo>;
  /**
   * A record of this judgement. Store its `sealed` with your decision, even a denial, and refer to it later without another event.
   * Null with `FORBIDDEN` like `device`, and with `NOT_CONFIGURED` if the operator has configured no sealing keys.
   */
  judgement?: Maybe<DeviceJudgement>;
  /** The application whose credentials were used. */
  publicKey: Scalars['ID']['output'];
  /** Identifies the analysis of this token; it stays the same when the token is queried again. */
  requestId: Scalars['ID']['output'];
  /**
   * The signals that fired, in the service's order; empty if none did. A signal has to pass both filters; each includes its limit.
   * Null with `FORBIDDEN` like `device`, and with `BAD_USER_INPUT` for a `minConfidence` out of its range.
   */
  signals?: Maybe<Array<Signal>>;
  /** The judged token. A credential, so it is not part of the public graph. */
  token: Scalars['ID']['output'];
  /** Version of the fingerprint method. */
  version: Scalars['String']['output'];
};


/**
 * A judged device. Other subgraphs refer to it by the token alone, or by token and application. If a reference fails, for example
 * with `DEVICE_TOKEN_REJECTED`, a router returns null in its nullable fields, or null for the whole entity if you also select a
 * non-null field, such as `eventId`. Each reference is an event, so tag each field that returns one as `billed`: otherwise a contract
 * that excludes `billed` does not compose.
 *
 * `device`, `ipInfo`, `signals`, `decision` and `judgement` are null only with an entry in `errors`. Where scopes are enforced, a
 * request without the scope `risk:read` gets `FORBIDDEN` for them, and everything else as usual. A response has at most 100 such
 * entries. The last one says that others are omitted.
 */
export type DeviceFingerprintSignalsArgs = {
  minConfidence?: InputMaybe<Scalars['Float']['input']>;
  minLevel?: InputMaybe<SignalLevel>;
};

/** The service rejected the client's input. A retry with the same values does not help. */
export type DeviceFingerprintRejected = {
  __typename?: 'DeviceFingerprintRejected';
  /** The errors, field by field; may be empty. */
  errors: Array<DeviceFieldError>;
  /** The reason, for programs. */
  reason: DeviceFingerprintRejectionReason;
};

/** The reason for rejecting the client's input. */
export type DeviceFingerprintRejectionReason =
  /** Another argument is invalid: `errors` names it. */
  | 'INVALID_INPUT'
  /** The service did not issue this token: let the client SDK create a new one. */
  | 'INVALID_TOKEN';

/** Either a judgement, or the reason for a rejection. */
export type DeviceFingerprintResult = DeviceFingerprint | DeviceFingerprintRejected;

/**
 * A stored judgement of a device. A reference by `sealed` opens the record. It causes no event, and shows the data of that time.
 *
 * A reference fails with `JUDGEMENT_UNREADABLE` if the text was changed, or if the key that sealed it is no longer in use, with
 * `NOT_CONFIGURED` if no key is configured, and with `FORBIDDEN` without the scope `risk:read`, where scopes are enforced. For a
 * failed reference, a router returns null in its nullable fields, or null for the whole entity if you also select a non-null field, such
 * as `judgedAt`.
 */
export type DeviceJudgement = DeviceAssessment & {
  __typename?: 'DeviceJudgement';
  /** The client SDK that produced the token. */
  clientType: DeviceClientType;
  /** The risk policy's decision at that time. Later policies do not change it. Null for records of early releases, which stored no decision. */
  decision?: Maybe<DeviceRiskDecision>;
  /** The device itself, for other subgraphs to extend. Null only with the errors of the whole record. */
  device?: Maybe<FingerprintDevice>;
  /** The kind of machine. Select with fragments on `Mobile` and `Web`. Null for the `clientType` `OTHER`. */
  deviceBasic?: Maybe<DeviceBasic>;
  /** Identifies the event; quote it to the fingerprint service's support. */
  eventId: Scalars['ID']['output'];
  /** The `eventType` of the judged query; null if it had none. */
  eventType?: Maybe<Scalars['String']['output']>;
  /** The network origin of the request. Null only with the errors of the whole record. */
  ipInfo?: Maybe<IpInfo>;
  /**
   * Whether `sealed` lacks a part of the judgement, which was too long. Values of `additional` are left out first; if that is not
   * enough, long texts are cut and signals left out, never identifiers or the decision. Up to release 0.6.0, long device reports were
   * shortened without this note.
   */
  isShortened: Scalars['Boolean']['output'];
  /** When the fingerprint service answered. */
  judgedAt: Scalars['DateTime']['output'];
  /** The application whose credentials were used. */
  publicKey: Scalars['ID']['output'];
  /** Identifies the analysis of the token. */
  requestId: Scalars['ID']['output'];
  /** The judgement as an encrypted text for your database: some 800 characters, at most 8192. It contains neither the token nor the metadata. */
  sealed: Scalars['ID']['output'];
  /**
   * The signals that fired. Level and confidence are those of that time, effect and meaning those of the current catalogue. A
   * signal has to pass both filters; each includes its limit. Null with the errors of the whole record, and with `BAD_USER_INPUT`
   * for a `minConfidence` out of its range.
   */
  signals?: Maybe<Array<Signal>>;
  /** The signed-in person of the judged request, from the caller's trusted header. Null if the header was absent, or none is configured. */
  subject?: Maybe<Scalars['ID']['output']>;
  /** Version of the fingerprint method. */
  version: Scalars['String']['output'];
};


/**
 * A stored judgement of a device. A reference by `sealed` opens the record. It causes no event, and shows the data of that time.
 *
 * A reference fails with `JUDGEMENT_UNREADABLE` if the text was changed, or if the key that sealed it is no longer in use, with
 * `NOT_CONFIGURED` if no key is configured, and with `FORBIDDEN` without the scope `risk:read`, where scopes are enforced. For a
 * failed reference, a router returns null in its nullable fields, or null for the whole entity if you also select a non-null field, such
 * as `judgedAt`.
 */
export type DeviceJudgementSignalsArgs = {
  minConfidence?: InputMaybe<Scalars['Float']['input']>;
  minLevel?: InputMaybe<SignalLevel>;
};

/** Business data about a query. Every key is optional: null means that it is not sent. For personal data, prefer the hashed form of a key if there is one. */
export type DeviceMetadataInput = {
  /** Your identifier of the account. */
  accountId?: InputMaybe<Scalars['String']['input']>;
  /** Any further keys, in the service's own spelling, with any values, even null. A key that has a field above is refused here. */
  additional?: InputMaybe<Scalars['JSONObject']['input']>;
  /** E-mail address in clear text. */
  email?: InputMaybe<Scalars['String']['input']>;
  /** The part of the e-mail address after the `@`. */
  emailDomain?: InputMaybe<Scalars['String']['input']>;
  /** Hash of the e-mail address. */
  emailSha256?: InputMaybe<Scalars['String']['input']>;
  /** IPv4 address of the client. */
  ipAddrV4?: InputMaybe<Scalars['String']['input']>;
  /** IPv6 address of the client. */
  ipAddrV6?: InputMaybe<Scalars['String']['input']>;
  /** JA3 fingerprint of the client's TLS handshake. */
  ja3?: InputMaybe<Scalars['String']['input']>;
  /** JA4 fingerprint of the client's TLS handshake. */
  ja4?: InputMaybe<Scalars['String']['input']>;
  /** Leading part of the MAC address. */
  macPrefix?: InputMaybe<Scalars['String']['input']>;
  /** Country code of the telephone number. */
  phoneCountryCode?: InputMaybe<Scalars['String']['input']>;
  /** Telephone number in clear text. */
  phoneNum?: InputMaybe<Scalars['String']['input']>;
  /** Leading digits of the telephone number. */
  phonePrefix?: InputMaybe<Scalars['String']['input']>;
  /** Hash of the telephone number. */
  phoneSha256?: InputMaybe<Scalars['String']['input']>;
  /** Negotiated TLS cipher. */
  tlsCipher?: InputMaybe<Scalars['String']['input']>;
  /** User-Agent header of the client. */
  userAgent?: InputMaybe<Scalars['String']['input']>;
  /** Leading part of the Wi-Fi access point's BSSID. */
  wifiBssidPrefix?: InputMaybe<Scalars['String']['input']>;
};

/** An operating system, of a phone or of a machine behind a browser. */
export type DeviceOperatingSystem = {
  __typename?: 'DeviceOperatingSystem';
  /** Any other reported data; null if none. */
  additional?: Maybe<Scalars['JSONObject']['output']>;
  /** Such as `Android`, `iOS` or `Windows`. Null if the browser does not report it. */
  name?: Maybe<Scalars['String']['output']>;
  /** Version in the maker's own notation. Null if the browser does not report it. */
  version?: Maybe<Scalars['String']['output']>;
};

/** The action for a device. Treat an unknown value as `CHALLENGE`. */
export type DeviceRiskAction =
  /** Continue. */
  | 'ALLOW'
  /** First require more proof from the person, for example a captcha. */
  | 'CHALLENGE'
  /** Stop, and do not tell the person why. */
  | 'DENY';

/** The action for a device, with the deciding rule and policy. */
export type DeviceRiskDecision = {
  __typename?: 'DeviceRiskDecision';
  /** The action. */
  action: DeviceRiskAction;
  /** Identifies the content of the policy. The same policy has the same id everywhere, and each change gives a new id. */
  policy: Scalars['ID']['output'];
  /** The id of the rule that decided; `otherwise` if no rule matched. Show it to analysts, never to the person concerned. */
  rule: Scalars['ID']['output'];
};

/** The effect of a signal. Rely on it, not on the name: the names of the service's lists say the opposite of their effect. */
export type DeviceSignalEffect =
  /** On one of your whitelists: allow. These are the signals named `BLACKLIST_…`. */
  | 'ALLOW'
  /** On one of your blacklists: deny. These are the signals named `WHITELIST_…`. */
  | 'DENY'
  /** Counts towards risk. */
  | 'RISK';

/** A device. All its tokens have the same `id`. Other subgraphs can add fields. */
export type FingerprintDevice = {
  __typename?: 'FingerprintDevice';
  /** The fingerprint service's identifier of the device. */
  id: Scalars['ID']['output'];
};

/** Data about the network address. */
export type IpInfo = {
  __typename?: 'IpInfo';
  /** The address from which the client SDK reported. */
  ip: Scalars['String']['output'];
};

/** A phone or tablet, seen through an app. */
export type Mobile = {
  __typename?: 'Mobile';
  /** Processor architecture, such as `arm64`. */
  architecture: Scalars['String']['output'];
  /** Model name as the manufacturer gives it. */
  model: Scalars['String']['output'];
  /** Its operating system. */
  os: DeviceOperatingSystem;
};

export type Mutation = {
  __typename?: 'Mutation';
  /**
   * Verifies with the captcha service that a human solved this challenge. Send it in a separate operation, because GraphQL runs
   * the next mutation of an operation regardless of this one's outcome. Send the protected mutation only if `proceed` is true. A
   * service cannot trust the page's check, so it verifies the `attestation` of this outcome.
   *
   * A challenge can be verified once. So send the values of the captcha widget immediately, and never send the same values again.
   *
   * Null with an entry in `errors` means that nothing was verified: do not proceed. For example, the input is malformed, or the
   * operator has not configured attestations (`NOT_CONFIGURED`).
   */
  validateCaptcha?: Maybe<CaptchaValidation>;
};


export type MutationValidateCaptchaArgs = {
  input: ValidateCaptchaInput;
};

export type Query = {
  __typename?: 'Query';
  /**
   * Identifies a device and judges its risk, from the token that the client SDK produced on a phone or in a browser.
   *
   * Each call is an event at the fingerprint service, with its own `eventId`. Equal calls in one operation share one event. It is a
   * query because its fields run in parallel, and because a router resolves references by token in queries. But GraphQL clients repeat
   * queries, so prevent that: no refetch, no polling, no retry.
   *
   * Null with an entry in `errors` means that there is no judgement. The event may still have been recorded. So try again with a
   * new token: a second query with the same one can get the signal `TOKEN_EXPIRED`.
   *
   * The service gets every text as you send it, even an empty one. A text of more than 16384 bytes in UTF-8, or with half of a
   * surrogate pair, is the error `BAD_USER_INPUT`, which names the argument.
   */
  deviceFingerprint?: Maybe<DeviceFingerprintResult>;
  /**
   * Every risk signal that the fingerprint service documents, with its fixed level and confidence. Where scopes are enforced, it
   * is null with `FORBIDDEN` for a request without the scope `risk:read`.
   */
  signalCatalogue?: Maybe<Array<SignalDefinition>>;
};


export type QueryDeviceFingerprintArgs = {
  eventTime?: InputMaybe<Scalars['DateTime']['input']>;
  eventType?: InputMaybe<Scalars['String']['input']>;
  metadata?: InputMaybe<DeviceMetadataInput>;
  publicKey?: InputMaybe<Scalars['ID']['input']>;
  token: Scalars['String']['input'];
};

/** A risk signal that fired. */
export type Signal = {
  __typename?: 'Signal';
  /** The signal's code; null for a signal newer than this schema. */
  code?: Maybe<SignalCode>;
  /** The service's confidence, from 0 to 1. */
  confidence: Scalars['Float']['output'];
  /** The effect of the signal; null if `code` is null. */
  effect?: Maybe<DeviceSignalEffect>;
  /** Its severity. */
  level: SignalLevel;
  /** The meaning, for people; null if `code` is null. */
  meaning?: Maybe<Scalars['String']['output']>;
  /** The signal exactly as the service sent it. */
  name: Scalars['String']['output'];
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
  /** Code may have been altered, high risk. */
  | 'HOOK_TAMPERING_HIGH'
  /** Code may have been altered, low risk; rule out your own instrumentation before you act on this. */
  | 'HOOK_TAMPERING_LOW'
  /** Code may have been altered, and with it the logic of the app. */
  | 'HOOK_TAMPERING_MEDIUM'
  /** The app was repackaged, or its package name altered. */
  | 'INVALID_PACKAGE'
  /** The IP address is known for crawling or cracking. */
  | 'IP_CRAWLER_OR_BOT'
  /** The IP address is known for attacks. */
  | 'IP_MALICIOUS_ATTACK'
  /** The IP address is probably a proxy. */
  | 'IP_SUSPICIOUS_PROXY'
  /** A limit was exceeded; the service's document does not name it. */
  | 'LIMIT_EXCEED'
  /** A network proxy is switched on. */
  | 'NETWORK_PROXY'
  /** A tool that alters network traffic is installed. */
  | 'NETWORK_TAMPER_TOOL_INSTALLED'
  /** The client claims to be a browser but is not. */
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

/** A documented signal. */
export type SignalDefinition = {
  __typename?: 'SignalDefinition';
  /** The signal. */
  code: SignalCode;
  /** Its fixed confidence, from 0 to 1. */
  confidence: Scalars['Float']['output'];
  /** Its effect. */
  effect: DeviceSignalEffect;
  /** Its fixed level. */
  level: SignalLevel;
  /** The meaning, for people. */
  meaning: Scalars['String']['output'];
};

/** The severity of a signal, from `LOW` to `HIGH`. */
export type SignalLevel =
  /** Worth acting on. Also every level that this subgraph does not know yet, which may be higher. */
  | 'HIGH'
  /** Worth knowing. */
  | 'LOW'
  /** Worth a second look. */
  | 'MEDIUM';

/**
 * The values of a solved challenge, unchanged from the captcha widget. An empty text, one of more than 16384 bytes in UTF-8, or
 * one with half of a surrogate pair is the error `BAD_USER_INPUT`, which names the value and does not consume the challenge.
 *
 * If the widget does not load, send these instead: `unavailable-` and a UUID of this checkout as `lotNumber`, `unavailable` as
 * `captchaOutput` and `passToken`, and `0` as `genTime`. In a confirmed outage of the captcha service the request may proceed.
 */
export type ValidateCaptchaInput = {
  /** The intended action at that service, such as `placeOrder`. The operator configures the actions of an audience. */
  action?: InputMaybe<Scalars['String']['input']>;
  /**
   * The service that verifies the `attestation`, such as `orders`. Send it together with `action`, or omit both. The operator
   * configures the services. An unknown service is the error `BAD_USER_INPUT`, or `NOT_CONFIGURED` if none is configured. Neither
   * error consumes the challenge.
   */
  audience?: InputMaybe<Scalars['ID']['input']>;
  /** The captcha id of the widget. Default: the first configured one. It is public. */
  captchaId?: InputMaybe<Scalars['ID']['input']>;
  /** The widget's opaque record of the solution. Do not change it. */
  captchaOutput: Scalars['String']['input'];
  /** When the challenge was passed: digits only, as a string. */
  genTime: Scalars['String']['input'];
  /** Serial number of the solved challenge. */
  lotNumber: Scalars['String']['input'];
  /** The widget's proof that the challenge was passed. */
  passToken: Scalars['String']['input'];
};

/** A machine seen through its browser. */
export type Web = {
  __typename?: 'Web';
  /** The browser. */
  browser: WebBrowser;
  /** The machine, as far as the browser reports it. */
  device: WebDevice;
  /** Its operating system. */
  os: DeviceOperatingSystem;
};

/** A browser. */
export type WebBrowser = {
  __typename?: 'WebBrowser';
  /** Any other reported data; null if none. */
  additional?: Maybe<Scalars['JSONObject']['output']>;
  /** Major version. Null if the browser does not report it. */
  major?: Maybe<Scalars['String']['output']>;
  /** Such as `Chrome`. Null if the browser does not report it. */
  name?: Maybe<Scalars['String']['output']>;
  /** Full version. Null if the browser does not report it. */
  version?: Maybe<Scalars['String']['output']>;
};

/** The machine behind a browser. */
export type WebDevice = {
  __typename?: 'WebDevice';
  /** Any other reported data; null if none. */
  additional?: Maybe<Scalars['JSONObject']['output']>;
  /** Model. Null if the browser does not report it. */
  model?: Maybe<Scalars['String']['output']>;
  /** Maker. Null if the browser does not report it. */
  vendor?: Maybe<Scalars['String']['output']>;
};

export const DEVICE_METADATA_KEYS = [
  "accountId",
  "phoneNum",
  "phoneSha256",
  "phoneCountryCode",
  "phonePrefix",
  "email",
  "emailSha256",
  "emailDomain",
  "ipAddrV4",
  "ipAddrV6",
  "userAgent",
  "ja3",
  "ja4",
  "macPrefix",
  "wifiBssidPrefix",
  "tlsCipher"
] as const;
