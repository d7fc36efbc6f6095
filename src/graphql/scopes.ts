import type { GraphQLReferenceResolver } from '@apollo/subgraph';
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
 * of such a type is null with FORBIDDEN, and so is a reference to such a type, by `restrictReferences`. A new field needs nothing
 * but its tag.
 *
 * It is done here and not by a directive, because gateways ignore directives that they do not know, or refuse the supergraph.
 *
 * @throws Error if such a field cannot be null, or if a union or an interface without the tag has a type with it
 */
export function requireScopes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type) && type.name !== '_Entity') checkMembers(type, schema.getPossibleTypes(type));
    // The fields of such a type need nothing themselves, because whatever leads to the type does.
    if (!isObjectType(type) || isRisk(type)) continue;
    for (const field of Object.values(type.getFields())) if (isRestricted(field)) restrict(type, field);
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
  const tags = node?.directives?.filter(({ name }) => name.value === 'tag') ?? [];
  return tags.some(({ arguments: given = [] }) =>
    given.some(({ value }) => 'value' in value && value.value === 'risk'),
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

/** The reference resolver of a type, which needs the scope if the type does. */
export function restrictReferences(
  type: GraphQLObjectType,
  resolve: GraphQLReferenceResolver<GraphQLContext>,
): GraphQLReferenceResolver<GraphQLContext> {
  if (!isRisk(type)) return resolve;
  return (reference, context, info) =>
    context.maySeeRisk ? resolve(reference, context, info) : context.refuseField(forbidden);
}

function forbidden(): DeviceTrustError {
  const message =
    'This field needs the scope risk:read, which this request does not have. The operator of this subgraph decides who has it.';
  return new DeviceTrustError('FORBIDDEN', { message });
}

/** Stands for a device if `asksOnlyRefused`. Sound: nobody reads another field of it, because these are refused. */
export function refusedDevice({ token, application: { publicKey } }: FingerprintRequest): JudgedDevice {
  return { __typename: 'DeviceFingerprint', token, publicKey } as JudgedDevice;
}

/** What is known of a reference without a call. Some gateways select it each time. */
const OF_REFERENCE = ['__typename', 'token', 'publicKey'];

type Selected = readonly (GraphQLField<unknown, unknown> | undefined)[];

/** By the field of the document that asks for a device. */
const known = new WeakMap<FieldNode, Selected>();

/**
 * Does a field ask only for what is refused: what its caller may not see of a device, or a judgement where no key can seal it?
 * Then nothing is sent to the fingerprint service, because each call is an event, and can be billed.
 */
export function asksOnlyRefused({ maySeeRisk, canSeal }: GraphQLContext, info: GraphQLResolveInfo): boolean {
  if (maySeeRisk && canSeal) return false;
  const isRefused = (field: Selected[number]) =>
    field && ((!maySeeRisk && isRestricted(field)) || (!canSeal && field.name === 'judgement'));
  return info.fieldNodes.every((node) => {
    const selected = known.get(node) ?? selectedBy(node, info);
    known.set(node, selected);
    return selected.length > 0 && selected.every(isRefused);
  });
}

/** The fields that only a call can answer. That a token is rejected is no secret, and only a call shows it. */
function selectedBy({ name, selectionSet }: FieldNode, info: GraphQLResolveInfo): Selected {
  const isKnown = ({ name: { value } }: FieldNode) => name.value === '_entities' && OF_REFERENCE.includes(value);
  return ['DeviceFingerprint', 'DeviceFingerprintRejected'].flatMap((typename) => {
    const type = info.schema.getType(typename);
    if (!isObjectType(type) || !selectionSet) return [];
    const nodes = fieldsOf(selectionSet, type, info).filter((node) => !isKnown(node));
    return nodes.map((node) => type.getFields()[node.name.value]);
  });
}
