import type * as Schema from '../schema.generated.ts';
import type {  } from '../schema.generated.ts';
import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
export type WithIndex<TObject> = TObject & Record<string, any>;
export type ResolversObject<TObject> = WithIndex<TObject>;

export type ResolverTypeWrapper<T> = Promise<T> | T;


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




/** Mapping of interface types */
export type ResolversInterfaceTypes<_RefType extends Record<string, unknown>> = ResolversObject<{
  CaptchaValidation:
    | ( Schema.CaptchaFailed & { __typename: 'CaptchaFailed' } )
    | ( Schema.CaptchaIndeterminate & { __typename: 'CaptchaIndeterminate' } )
    | ( Schema.CaptchaPassed & { __typename: 'CaptchaPassed' } )
  ;
}>;

/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = ResolversObject<{
  CaptchaDetails: ResolverTypeWrapper<Schema.CaptchaDetails>;
  String: ResolverTypeWrapper<Schema.Scalars['String']['output']>;
  CaptchaFailed: ResolverTypeWrapper<Schema.CaptchaFailed>;
  Boolean: ResolverTypeWrapper<Schema.Scalars['Boolean']['output']>;
  CaptchaFailureCategory: Schema.CaptchaFailureCategory;
  CaptchaFailureDetails: ResolverTypeWrapper<Schema.CaptchaFailureDetails>;
  CaptchaIndeterminate: ResolverTypeWrapper<Schema.CaptchaIndeterminate>;
  CaptchaIndeterminateCause: Schema.CaptchaIndeterminateCause;
  CaptchaPassed: ResolverTypeWrapper<Schema.CaptchaPassed>;
  CaptchaValidation: ResolverTypeWrapper<ResolversInterfaceTypes<ResolversTypes>['CaptchaValidation']>;
  DateTime: ResolverTypeWrapper<Schema.Scalars['DateTime']['output']>;
  JSONObject: ResolverTypeWrapper<Schema.Scalars['JSONObject']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ValidateCaptchaInput: Schema.ValidateCaptchaInput;
  ID: ResolverTypeWrapper<Schema.Scalars['ID']['output']>;
}>;

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = ResolversObject<{
  CaptchaDetails: Schema.CaptchaDetails;
  String: Schema.Scalars['String']['output'];
  CaptchaFailed: Schema.CaptchaFailed;
  Boolean: Schema.Scalars['Boolean']['output'];
  CaptchaFailureDetails: Schema.CaptchaFailureDetails;
  CaptchaIndeterminate: Schema.CaptchaIndeterminate;
  CaptchaPassed: Schema.CaptchaPassed;
  CaptchaValidation: ResolversInterfaceTypes<ResolversParentTypes>['CaptchaValidation'];
  DateTime: Schema.Scalars['DateTime']['output'];
  JSONObject: Schema.Scalars['JSONObject']['output'];
  Mutation: Record<PropertyKey, never>;
  ValidateCaptchaInput: Schema.ValidateCaptchaInput;
  ID: Schema.Scalars['ID']['output'];
}>;

export type CaptchaDetailsResolvers<ContextType = any, ParentType extends ResolversParentTypes['CaptchaDetails'] = ResolversParentTypes['CaptchaDetails']> = ResolversObject<{
  lotNumber?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  referer?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  scene?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  usedType?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  userIp?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
}>;

export type CaptchaFailedResolvers<ContextType = any, ParentType extends ResolversParentTypes['CaptchaFailed'] = ResolversParentTypes['CaptchaFailed']> = ResolversObject<{
  attestation?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  category?: Resolver<ResolversTypes['CaptchaFailureCategory'], ParentType, ContextType>;
  details?: Resolver<ResolversTypes['CaptchaFailureDetails'], ParentType, ContextType>;
  proceed?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  reason?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type CaptchaFailureDetailsResolvers<ContextType = any, ParentType extends ResolversParentTypes['CaptchaFailureDetails'] = ResolversParentTypes['CaptchaFailureDetails']> = ResolversObject<{
  lotNumber?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  usedType?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  userIp?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
}>;

export type CaptchaIndeterminateResolvers<ContextType = any, ParentType extends ResolversParentTypes['CaptchaIndeterminate'] = ResolversParentTypes['CaptchaIndeterminate']> = ResolversObject<{
  attestation?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  cause?: Resolver<ResolversTypes['CaptchaIndeterminateCause'], ParentType, ContextType>;
  code?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  message?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  proceed?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  type?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type CaptchaPassedResolvers<ContextType = any, ParentType extends ResolversParentTypes['CaptchaPassed'] = ResolversParentTypes['CaptchaPassed']> = ResolversObject<{
  attestation?: Resolver<Schema.Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  details?: Resolver<ResolversTypes['CaptchaDetails'], ParentType, ContextType>;
  proceed?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  __isTypeOf?: IsTypeOfResolverFn<ParentType, ContextType>;
}>;

export type CaptchaValidationResolvers<ContextType = any, ParentType extends ResolversParentTypes['CaptchaValidation'] = ResolversParentTypes['CaptchaValidation']> = ResolversObject<{
  __resolveType: TypeResolveFn<'CaptchaFailed' | 'CaptchaIndeterminate' | 'CaptchaPassed', ParentType, ContextType>;
}>;

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export interface JsonObjectScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['JSONObject'], any> {
  name: 'JSONObject';
}

export type MutationResolvers<ContextType = any, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = ResolversObject<{
  validateCaptcha?: Resolver<Schema.Maybe<ResolversTypes['CaptchaValidation']>, ParentType, ContextType, RequireFields<Schema.MutationValidateCaptchaArgs, 'input'>>;
}>;

export type Resolvers<ContextType = any> = ResolversObject<{
  CaptchaDetails?: CaptchaDetailsResolvers<ContextType>;
  CaptchaFailed?: CaptchaFailedResolvers<ContextType>;
  CaptchaFailureDetails?: CaptchaFailureDetailsResolvers<ContextType>;
  CaptchaIndeterminate?: CaptchaIndeterminateResolvers<ContextType>;
  CaptchaPassed?: CaptchaPassedResolvers<ContextType>;
  CaptchaValidation?: CaptchaValidationResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  JSONObject?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
}>;

