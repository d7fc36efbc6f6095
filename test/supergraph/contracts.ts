import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import * as cosmo from '@wundergraph/composition';
import { buildSchema, type DirectiveNode, type DocumentNode, type GraphQLSchema, Kind, visit } from 'graphql';

/** The contract variant without one tag, as each of the three composers makes it. */

export interface Subgraph {
  readonly name: string;
  readonly url: string;
  readonly typeDefs: DocumentNode;
}

/** Composes these subgraphs without what has the tag. Throws an error that lists whatever the composer complains of. */
export type ComposeContract = (subgraphs: readonly Subgraph[], exclude: string) => GraphQLSchema;

/**
 * GraphOS makes everything with the tag inaccessible; the package has no function for it, so the directive is written beside
 * each tag. Composition then refuses whatever would refer to something that is gone.
 */
const composeWithApollo: ComposeContract = (subgraphs, exclude) => {
  const hidden = subgraphs.map(({ typeDefs, ...rest }) => ({ ...rest, typeDefs: hide(typeDefs, exclude) }));
  const { errors = [], schema } = apollo.composeServices(hidden);
  if (!schema) throw new AggregateError(errors, errors.join('\n'));
  return schema.toAPISchema().toGraphQLJSSchema();
};

/** Hive. Types that nothing refers to any more stay, as they do where nobody asks for their removal. */
const composeWithGuild: ComposeContract = (subgraphs, exclude) => {
  const { errors = [], publicSdl } = guild.composeSchemaContract(
    [...subgraphs],
    { exclude: new Set([exclude]), include: new Set() },
    false,
  );
  if (!publicSdl) throw new AggregateError(errors, errors.join('\n'));
  return buildSchema(publicSdl);
};

const composeWithCosmo: ComposeContract = (subgraphs, exclude) => {
  const result = cosmo.federateSubgraphsContract({
    subgraphs: subgraphs.map(({ name, url, typeDefs }) => ({ name, url, definitions: typeDefs })),
    contractTagOptions: { tagNamesToExclude: new Set([exclude]), tagNamesToInclude: new Set() },
    version: cosmo.ROUTER_COMPATIBILITY_VERSION_ONE,
  });
  if (!result.success) throw new AggregateError(result.errors, result.errors.join('\n'));
  return result.federatedGraphClientSchema;
};

/** All three, by name. */
export const COMPOSERS = [
  ['@apollo/composition', composeWithApollo],
  ['@theguild/federation-composition', composeWithGuild],
  ['@wundergraph/composition', composeWithCosmo],
] as const;

/** Writes `@inaccessible` beside each such tag, and imports it where `@tag` is imported and it is not. */
function hide(document: DocumentNode, tag: string): DocumentNode {
  const inaccessible = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'inaccessible' } } as const;
  return visit(document, {
    ListValue: (node) => {
      const imported = node.values.flatMap((value) => (value.kind === Kind.STRING ? [value.value] : []));
      if (!imported.includes('@tag') || imported.includes('@inaccessible')) return undefined;
      return { ...node, values: [...node.values, { kind: Kind.STRING, value: '@inaccessible' } as const] };
    },
    enter(node) {
      if (!('directives' in node) || !node.directives?.some((directive) => isTag(directive, tag))) return undefined;
      return { ...node, directives: [...node.directives, inaccessible] };
    },
  });
}

const isTag = ({ name, arguments: given = [] }: DirectiveNode, tag: string) =>
  name.value === 'tag' && given.some(({ value }) => value.kind === Kind.STRING && value.value === tag);
