import type { ApolloGraphQLObjectTypeExtensions } from '@apollo/subgraph';
import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { DeviceTrustError } from '../errors.ts';
import type { FingerprintRequest } from '../fingerprint/client.ts';
import type { JudgedDevice } from '../fingerprint/outcome.ts';
import type { GraphQLContext } from './context.ts';
import { fieldsOf } from './selections.ts';

/**
 * Changes the schema so that everything with the tag `risk` needs the scope `risk:read`. Without it, such a field and a field
 * of such a type is null with FORBIDDEN, and so is a reference to such a type. A new field needs nothing but its tag.
 *
 * It is done here and not by a directive, because gateways ignore directives that they do not know, or refuse the supergraph.
 *
 * @throws Error if such a field cannot be null, or if a union or an interface without the tag has a type with it
 */
export function requireScopes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type) && type.name !== '_Entity') checkMembers(type, schema.getPossibleTypes(type));
    if (!isObjectType(type)) continue;
    // The fields of such a type need nothing themselves, because whatever leads to the type does.
    if (isRisk(type)) restrictReferences(type);
    else for (const field of Object.values(type.getFields())) if (isRestricted(field)) restrict(type, field);
  }
  return schema;
}

function isRisk({ astNode, extensionASTNodes = [] }: GraphQLNamedType): boolean {
  return [astNode, ...extensionASTNodes].some(hasTag);
}

function isRestricted({ astNode, type }: GraphQLField<unknown, unknown>): boolean {
  return hasTag(astNode) || isRisk(getNamedType(type));
}

/** Has a definition of the SDL the tag `risk`? */
function hasTag(node: Pick<FieldNode, 'directives'> | null | undefined): boolean {
  return (
    node?.directives?.some(
      ({ name, arguments: given = [] }) =>
        name.value === 'tag' && given.some(({ value }) => 'value' in value && value.value === 'risk'),
    ) ?? false
  );
}

function checkMembers(abstract: GraphQLAbstractType, members: readonly GraphQLObjectType[]): void {
  const member = members.find(isRisk);
  if (!member || isRisk(abstract)) return;
  throw new Error(`expected ${abstract.name} to have the tag risk as ${member.name} does, but got none`);
}

function restrict({ name }: GraphQLObjectType, field: GraphQLField<unknown, GraphQLContext>): void {
  if (isNonNullType(field.type)) {
    throw new Error(`expected a nullable type of ${name}.${field.name}, which needs a scope, but got ${field.type}`);
  }
  const { resolve = defaultFieldResolver } = field;
  field.resolve = (source, args, context, info) =>
    context.maySeeRisk ? resolve(source, args, context, info) : context.refuseField(forbidden);
}

function restrictReferences({ extensions }: GraphQLObjectType): void {
  // Sound: this is the type that @apollo/subgraph documents for its extensions.
  const { subgraph } = (extensions as ApolloGraphQLObjectTypeExtensions<GraphQLContext>).apollo ?? {};
  const resolve = subgraph?.resolveReference;
  if (!resolve) return;
  subgraph.resolveReference = (reference, context, info) =>
    context.maySeeRisk ? resolve(reference, context, info) : context.refuseField(forbidden);
}

function forbidden(): DeviceTrustError {
  const message = 'This field needs the scope risk:read, which this request does not have.';
  return new DeviceTrustError('FORBIDDEN', { message });
}

/**
 * Stands for a device if `asksOnlyForbidden`. Sound: nobody reads another field of it, because these are forbidden.
 */
export function forbiddenDevice({ token, application: { publicKey } }: FingerprintRequest): JudgedDevice {
  return { __typename: 'DeviceFingerprint', token, publicKey } as JudgedDevice;
}

/** What is known of a reference without a call. Some gateways select it each time. */
const OF_REFERENCE = ['__typename', 'token', 'publicKey'];

/** By the field of the document that asks for a device. */
const known = new WeakMap<FieldNode, boolean>();

/**
 * Does a field ask only for what its caller may not see of a device? Then nothing is sent to the fingerprint service, because
 * each call is an event, and can be billed.
 */
export function asksOnlyForbidden({ maySeeRisk }: GraphQLContext, info: GraphQLResolveInfo): boolean {
  return !maySeeRisk && info.fieldNodes.every((node) => selectsOnlyRisk(node, info));
}

function selectsOnlyRisk(node: FieldNode, info: GraphQLResolveInfo): boolean {
  const before = known.get(node);
  if (before !== undefined) return before;
  const isReference = node.name.value === '_entities';
  const selected = (name: string) => {
    const type = info.schema.getType(name);
    if (!isObjectType(type) || !node.selectionSet) return [];
    return fieldsOf(node.selectionSet, type, info)
      .filter((field) => !isReference || !OF_REFERENCE.includes(field.name.value))
      .map((field) => type.getFields()[field.name.value]);
  };
  const ofDevice = selected('DeviceFingerprint');
  const isOnlyRisk = ofDevice.length > 0 && ofDevice.every((field) => field && isRestricted(field));
  // That a token is rejected is no secret, and only a call shows it.
  const needsNoCall = isOnlyRisk && selected('DeviceFingerprintRejected').length === 0;
  known.set(node, needsNoCall);
  return needsNoCall;
}
