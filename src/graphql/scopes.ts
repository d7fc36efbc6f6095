import type { GraphQLReferenceResolver } from '@apollo/subgraph';
import {
  type DocumentNode,
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
} from 'graphql';
import { DeviceTrustError } from '../errors.ts';
import type { RequestContext } from './context.ts';

/**
 * Everything with the tag `risk` needs the scope `risk:read`. Without the scope, a field with the tag, a field of a type with
 * the tag, and a reference to such a type are null with FORBIDDEN. It is a tag, because gateways ignore an unknown directive or
 * refuse the supergraph.
 */
export function requireScope(field: GraphQLField<unknown, RequestContext>, parent: GraphQLObjectType): void {
  const { resolve = defaultFieldResolver } = field;
  // The fields that lead to a type with the tag need the scope, so the fields of that type need no check.
  if (isRisk(parent) || !(hasTag(field.astNode) || isRisk(getNamedType(field.type)))) return;
  field.resolve = (source, args, context, info) =>
    context.mayReadRisk() ? resolve(source, args, context, info) : context.refuseField(forbidden);
}

function isRisk({ astNode, extensionASTNodes = [] }: GraphQLNamedType): boolean {
  return [astNode, ...extensionASTNodes].some(hasTag);
}

/** Does a part of this SDL have the tag `risk`? */
export function hasRisk({ definitions }: DocumentNode): boolean {
  return definitions.some((type) => 'fields' in type && [type, ...(type.fields ?? [])].some(hasTag));
}

function hasTag(node: Pick<FieldNode, 'directives'> | null | undefined): boolean {
  const tags = node?.directives?.filter(({ name }) => name.value === 'tag') ?? [];
  return tags.some(({ arguments: given = [] }) =>
    given.some(({ value }) => 'value' in value && value.value === 'risk'),
  );
}

/** The reference resolver of a type, which checks the scope if the type has the tag. */
export function restrictReferences(
  type: GraphQLObjectType,
  resolve: GraphQLReferenceResolver<RequestContext>,
): GraphQLReferenceResolver<RequestContext> {
  if (!isRisk(type)) return resolve;
  return (reference, context, info) =>
    context.mayReadRisk() ? resolve(reference, context, info) : context.refuseField(forbidden);
}

function forbidden(): DeviceTrustError {
  const message =
    'This field needs the scope risk:read, which this request does not have. The operator of this subgraph grants it.';
  return new DeviceTrustError('FORBIDDEN', { message });
}
