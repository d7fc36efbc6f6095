import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import { buildSchema, type DocumentNode, parse, print } from 'graphql';
import { type Composer, describeComposer } from './composer-promises.ts';

/** The composers that the example uses; `test/on-demand/` has Cosmo's. */

const COMPOSERS: Readonly<Record<string, Composer>> = {
  '@apollo/composition': {
    complaints: (services) => {
      const { errors = [], hints = [] } = apollo.composeServices(services);
      return [...errors, ...hints];
    },
    // GraphOS makes everything with the tag inaccessible; the package has no function for it, so the directive is written
    // beside each tag. Composition then refuses whatever would refer to something that is gone.
    contract: (services, excluded) => {
      const hidden = services.map((service) => ({ ...service, typeDefs: hide(service.typeDefs, excluded) }));
      const { errors = [], schema } = apollo.composeServices(hidden);
      if (!schema) throw new AggregateError(errors, errors.join('\n'));
      return schema.toAPISchema().toGraphQLJSSchema();
    },
  },
  '@theguild/federation-composition': {
    complaints: (services) => guild.composeServices(services).errors ?? [],
    contract: (services, excluded) => {
      const tags = { exclude: new Set(excluded), include: new Set<string>() };
      const { errors = [], publicSdl } = guild.composeSchemaContract(services, tags, false);
      if (!publicSdl) throw new AggregateError(errors, errors.join('\n'));
      return buildSchema(publicSdl);
    },
  },
};

for (const [name, composer] of Object.entries(COMPOSERS)) describeComposer(name, composer);

/** Writes `@inaccessible` beside what has one of these tags, and imports it. */
function hide(document: DocumentNode, tags: readonly string[]): DocumentNode {
  const tagged = new RegExp(`@tag\\(name: "(${tags.join('|')})"\\)`);
  const text = print(document).replace(/( @tag\(name: "[\w-]+"\))+/g, (all) =>
    tagged.test(all) ? `${all} @inaccessible` : all,
  );
  const isImported = /import: \[[^\]]*"@inaccessible"/.test(text);
  return parse(isImported ? text : text.replace('"@tag"', '"@tag", "@inaccessible"'));
}
