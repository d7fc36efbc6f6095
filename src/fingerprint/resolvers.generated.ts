import type * as Schema from '../schema.generated.ts';
import type { DeviceFingerprint, DeviceJudgement } from '../schema.generated.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { JudgedDevice } from './outcome.ts';
import type { KnownJudgement } from './sealed-judgement.ts';
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
export type WithIndex<TObject> = TObject & Record<string, any>;
export type ResolversObject<TObject> = WithIndex<TObject>;

export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Schema.Maybe<T> extends T ? Schema.Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };
    

export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Schema.Maybe<TTypes> | Promise<Schema.Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = ResolversObject<{
  DeviceFingerprint: DeviceFingerprint;
  DeviceJudgement: DeviceJudgement;
}>;

/** Mapping of federation reference types */
export type FederationReferenceTypes = ResolversObject<{
  DeviceFingerprint:
    ( { __typename: 'DeviceFingerprint' }
    & ( GraphQLRecursivePick<FederationTypes['DeviceFingerprint'], {"token":true}>
        | GraphQLRecursivePick<FederationTypes['DeviceFingerprint'], {"token":true,"publicKey":true}> ) );
  DeviceJudgement:
    ( { __typename: 'DeviceJudgement' }
    & GraphQLRecursivePick<FederationTypes['DeviceJudgement'], {"sealed":true}> );
}>;

/** Mapping of union types */
export type ResolversUnionTypes<_RefType extends Record<string, unknown>> = ResolversObject<{
  DeviceBasic:
    | ( Schema.Mobile & { __typename: 'Mobile' } )
    | ( Schema.Web & { __typename: 'Web' } )
  ;
  DeviceFingerprintResult:
    | ( JudgedDevice & { __typename: 'DeviceFingerprint' } )
    | ( Schema.DeviceFingerprintRejected & { __typename: 'DeviceFingerprintRejected' } )
  ;
}>;

/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = ResolversObject<{
  DeviceAssessment:
    | ( JudgedDevice & { __typename: 'DeviceFingerprint' } )
    | ( KnownJudgement & { __typename: 'DeviceJudgement' } )
  ;
}>;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = ResolversObject<{
  DateTime: ResolverTypeWrapper<Schema.Scalars['DateTime']['output']>;
  DeviceAssessment: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['DeviceAssessment']>;
  ID: ResolverTypeWrapper<Schema.Scalars['ID']['output']>;
  Float: ResolverTypeWrapper<Schema.Scalars['Float']['output']>;
  String: ResolverTypeWrapper<Schema.Scalars['String']['output']>;
  DeviceBasic: ResolverTypeWrapper<ResolversUnionTypes<ResolversTypes>['DeviceBasic']>;
  DeviceClientType: Schema.DeviceClientType;
  DeviceFieldError: ResolverTypeWrapper<Schema.DeviceFieldError>;
  DeviceFingerprint: ResolverTypeWrapper<JudgedDevice>;
  DeviceFingerprintRejected: ResolverTypeWrapper<Schema.DeviceFingerprintRejected>;
  DeviceFingerprintRejectionReason: Schema.DeviceFingerprintRejectionReason;
  DeviceFingerprintResult: ResolverTypeWrapper<ResolversUnionTypes<ResolversTypes>['DeviceFingerprintResult']>;
  DeviceJudgement: ResolverTypeWrapper<KnownJudgement>;
  Boolean: ResolverTypeWrapper<Schema.Scalars['Boolean']['output']>;
  DeviceMetadataInput: Schema.DeviceMetadataInput;
  DeviceOperatingSystem: ResolverTypeWrapper<Schema.DeviceOperatingSystem>;
  DeviceRiskAction: Schema.DeviceRiskAction;
  DeviceRiskDecision: ResolverTypeWrapper<Schema.DeviceRiskDecision>;
  DeviceSignalEffect: Schema.DeviceSignalEffect;
  FingerprintDevice: ResolverTypeWrapper<Schema.FingerprintDevice>;
  IpInfo: ResolverTypeWrapper<Schema.IpInfo>;
  JSONObject: ResolverTypeWrapper<Schema.Scalars['JSONObject']['output']>;
  Mobile: ResolverTypeWrapper<Schema.Mobile>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Signal: ResolverTypeWrapper<Schema.Signal>;
  SignalCode: Schema.SignalCode;
  SignalDefinition: ResolverTypeWrapper<Schema.SignalDefinition>;
  SignalLevel: Schema.SignalLevel;
  Web: ResolverTypeWrapper<Schema.Web>;
  WebBrowser: ResolverTypeWrapper<Schema.WebBrowser>;
  WebDevice: ResolverTypeWrapper<Schema.WebDevice>;
}>;

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = ResolversObject<{
  DateTime: Schema.Scalars['DateTime']['output'];
  DeviceAssessment: ResolversInterfaceTypes<ResolversParentTypes>['DeviceAssessment'];
  ID: Schema.Scalars['ID']['output'];
  Float: Schema.Scalars['Float']['output'];
  String: Schema.Scalars['String']['output'];
  DeviceBasic: ResolversUnionTypes<ResolversParentTypes>['DeviceBasic'];
  DeviceFieldError: Schema.DeviceFieldError;
  DeviceFingerprint: JudgedDevice;
  DeviceFingerprintRejected: Schema.DeviceFingerprintRejected;
  DeviceFingerprintResult: ResolversUnionTypes<ResolversParentTypes>['DeviceFingerprintResult'];
  DeviceJudgement: KnownJudgement;
  Boolean: Schema.Scalars['Boolean']['output'];
  DeviceMetadataInput: Schema.DeviceMetadataInput;
  DeviceOperatingSystem: Schema.DeviceOperatingSystem;
  DeviceRiskDecision: Schema.DeviceRiskDecision;
  FingerprintDevice: Schema.FingerprintDevice;
  IpInfo: Schema.IpInfo;
  JSONObject: Schema.Scalars['JSONObject']['output'];
  Mobile: Schema.Mobile;
  Query: Record<PropertyKey, never>;
  Signal: Schema.Signal;
  SignalDefinition: Schema.SignalDefinition;
  Web: Schema.Web;
  WebBrowser: Schema.WebBrowser;
  WebDevice: Schema.WebDevice;
}>;

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type DeviceAssessmentResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceAssessment'] = ResolversParentTypes['DeviceAssessment']> = ResolversObject<{
  __resolveType: TypeResolveFn<'DeviceFingerprint' | 'DeviceJudgement', ParentType, ContextType>;
}>;

export type DeviceBasicResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceBasic'] = ResolversParentTypes['DeviceBasic']> = ResolversObject<{
  __resolveType: TypeResolveFn<'Mobile' | 'Web', ParentType, ContextType>;
}>;

export type DeviceFieldErrorResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceFieldError'] = ResolversParentTypes['DeviceFieldError']> = ResolversObject<{
  field?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  reason?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  type?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
}>;

export type DeviceFingerprintResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceFingerprint'] = ResolversParentTypes['DeviceFingerprint'], FederationReferenceType extends FederationReferenceTypes['DeviceFingerprint'] = FederationReferenceTypes['DeviceFingerprint']> = ResolversObject<{
  __resolveReference?: ReferenceResolver<Schema.Maybe<ResolversTypes['DeviceFingerprint']> | FederationReferenceType, FederationReferenceType, ContextType>;
  clientType?: Resolver<ResolversTypes['DeviceClientType'], ParentType, ContextType>;
  decision?: Resolver<Schema.Maybe<ResolversTypes['DeviceRiskDecision']>, ParentType, ContextType>;
  device?: Resolver<Schema.Maybe<ResolversTypes['FingerprintDevice']>, ParentType, ContextType>;
  deviceBasic?: Resolver<Schema.Maybe<ResolversTypes['DeviceBasic']>, ParentType, ContextType>;
  eventId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  ipInfo?: Resolver<Schema.Maybe<ResolversTypes['IpInfo']>, ParentType, ContextType>;
  judgement?: Resolver<Schema.Maybe<ResolversTypes['DeviceJudgement']>, ParentType, ContextType>;
  publicKey?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  requestId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  signals?: Resolver<Schema.Maybe<Array<ResolversTypes['Signal']>>, ParentType, ContextType, Partial<Schema.DeviceFingerprintSignalsArgs>>;
  token?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type DeviceFingerprintRejectedResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceFingerprintRejected'] = ResolversParentTypes['DeviceFingerprintRejected']> = ResolversObject<{
  errors?: Resolver<Array<ResolversTypes['DeviceFieldError']>, ParentType, ContextType>;
  reason?: Resolver<ResolversTypes['DeviceFingerprintRejectionReason'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type DeviceFingerprintResultResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceFingerprintResult'] = ResolversParentTypes['DeviceFingerprintResult']> = ResolversObject<{
  __resolveType: TypeResolveFn<'DeviceFingerprint' | 'DeviceFingerprintRejected', ParentType, ContextType>;
}>;

export type DeviceJudgementResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceJudgement'] = ResolversParentTypes['DeviceJudgement'], FederationReferenceType extends FederationReferenceTypes['DeviceJudgement'] = FederationReferenceTypes['DeviceJudgement']> = ResolversObject<{
  __resolveReference?: ReferenceResolver<Schema.Maybe<ResolversTypes['DeviceJudgement']> | FederationReferenceType, FederationReferenceType, ContextType>;
  clientType?: Resolver<ResolversTypes['DeviceClientType'], ParentType, ContextType>;
  decision?: Resolver<Schema.Maybe<ResolversTypes['DeviceRiskDecision']>, ParentType, ContextType>;
  device?: Resolver<Schema.Maybe<ResolversTypes['FingerprintDevice']>, ParentType, ContextType>;
  deviceBasic?: Resolver<Schema.Maybe<ResolversTypes['DeviceBasic']>, ParentType, ContextType>;
  eventId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  eventType?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  ipInfo?: Resolver<Schema.Maybe<ResolversTypes['IpInfo']>, ParentType, ContextType>;
  isShortened?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  judgedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  publicKey?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  requestId?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  sealed?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  signals?: Resolver<Schema.Maybe<Array<ResolversTypes['Signal']>>, ParentType, ContextType, Partial<Schema.DeviceJudgementSignalsArgs>>;
  subject?: Resolver<Schema.Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
  version?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type DeviceOperatingSystemResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceOperatingSystem'] = ResolversParentTypes['DeviceOperatingSystem']> = ResolversObject<{
  additional?: Resolver<Schema.Maybe<ResolversTypes['JSONObject']>, ParentType, ContextType>;
  name?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  version?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
}>;

export type DeviceRiskDecisionResolvers<ContextType = any, ParentType extends ResolversParentTypes['DeviceRiskDecision'] = ResolversParentTypes['DeviceRiskDecision']> = ResolversObject<{
  action?: Resolver<ResolversTypes['DeviceRiskAction'], ParentType, ContextType>;
  policy?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  rule?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
}>;

export type FingerprintDeviceResolvers<ContextType = any, ParentType extends ResolversParentTypes['FingerprintDevice'] = ResolversParentTypes['FingerprintDevice']> = ResolversObject<{
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
}>;

export type IpInfoResolvers<ContextType = any, ParentType extends ResolversParentTypes['IpInfo'] = ResolversParentTypes['IpInfo']> = ResolversObject<{
  ip?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
}>;

export interface JsonObjectScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['JSONObject'], any> {
  name: 'JSONObject';
}

export type MobileResolvers<ContextType = any, ParentType extends ResolversParentTypes['Mobile'] = ResolversParentTypes['Mobile']> = ResolversObject<{
  architecture?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  model?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  os?: Resolver<ResolversTypes['DeviceOperatingSystem'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type QueryResolvers<ContextType = any, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = ResolversObject<{
  deviceFingerprint?: Resolver<Schema.Maybe<ResolversTypes['DeviceFingerprintResult']>, ParentType, ContextType, RequireFields<Schema.QueryDeviceFingerprintArgs, 'token'>>;
  signalCatalogue?: Resolver<Schema.Maybe<Array<ResolversTypes['SignalDefinition']>>, ParentType, ContextType>;
}>;

export type SignalResolvers<ContextType = any, ParentType extends ResolversParentTypes['Signal'] = ResolversParentTypes['Signal']> = ResolversObject<{
  code?: Resolver<Schema.Maybe<ResolversTypes['SignalCode']>, ParentType, ContextType>;
  confidence?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  effect?: Resolver<Schema.Maybe<ResolversTypes['DeviceSignalEffect']>, ParentType, ContextType>;
  level?: Resolver<ResolversTypes['SignalLevel'], ParentType, ContextType>;
  meaning?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
}>;

export type SignalDefinitionResolvers<ContextType = any, ParentType extends ResolversParentTypes['SignalDefinition'] = ResolversParentTypes['SignalDefinition']> = ResolversObject<{
  code?: Resolver<ResolversTypes['SignalCode'], ParentType, ContextType>;
  confidence?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  effect?: Resolver<ResolversTypes['DeviceSignalEffect'], ParentType, ContextType>;
  level?: Resolver<ResolversTypes['SignalLevel'], ParentType, ContextType>;
  meaning?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
}>;

export type WebResolvers<ContextType = any, ParentType extends ResolversParentTypes['Web'] = ResolversParentTypes['Web']> = ResolversObject<{
  browser?: Resolver<ResolversTypes['WebBrowser'], ParentType, ContextType>;
  device?: Resolver<ResolversTypes['WebDevice'], ParentType, ContextType>;
  os?: Resolver<ResolversTypes['DeviceOperatingSystem'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type WebBrowserResolvers<ContextType = any, ParentType extends ResolversParentTypes['WebBrowser'] = ResolversParentTypes['WebBrowser']> = ResolversObject<{
  additional?: Resolver<Schema.Maybe<ResolversTypes['JSONObject']>, ParentType, ContextType>;
  major?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  name?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  version?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
}>;

export type WebDeviceResolvers<ContextType = any, ParentType extends ResolversParentTypes['WebDevice'] = ResolversParentTypes['WebDevice']> = ResolversObject<{
  additional?: Resolver<Schema.Maybe<ResolversTypes['JSONObject']>, ParentType, ContextType>;
  model?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  vendor?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
}>;

export type Resolvers<ContextType = any> = ResolversObject<{
  DateTime?: GraphQLScalarType;
  DeviceAssessment?: DeviceAssessmentResolvers<ContextType>;
  DeviceBasic?: DeviceBasicResolvers<ContextType>;
  DeviceFieldError?: DeviceFieldErrorResolvers<ContextType>;
  DeviceFingerprint?: DeviceFingerprintResolvers<ContextType>;
  DeviceFingerprintRejected?: DeviceFingerprintRejectedResolvers<ContextType>;
  DeviceFingerprintResult?: DeviceFingerprintResultResolvers<ContextType>;
  DeviceJudgement?: DeviceJudgementResolvers<ContextType>;
  DeviceOperatingSystem?: DeviceOperatingSystemResolvers<ContextType>;
  DeviceRiskDecision?: DeviceRiskDecisionResolvers<ContextType>;
  FingerprintDevice?: FingerprintDeviceResolvers<ContextType>;
  IpInfo?: IpInfoResolvers<ContextType>;
  JSONObject?: GraphQLScalarType;
  Mobile?: MobileResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Signal?: SignalResolvers<ContextType>;
  SignalDefinition?: SignalDefinitionResolvers<ContextType>;
  Web?: WebResolvers<ContextType>;
  WebBrowser?: WebBrowserResolvers<ContextType>;
  WebDevice?: WebDeviceResolvers<ContextType>;
}>;

