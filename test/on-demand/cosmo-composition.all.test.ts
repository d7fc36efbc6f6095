import * as cosmo from '@wundergraph/composition';
import { type Composer, describeComposer, type Services } from '../supergraph/composer-promises.ts';

/** What holds for the example's composers holds for Cosmo's. */

const version = cosmo.ROUTER_COMPATIBILITY_VERSION_ONE;
const forCosmo = (services: Services) =>
  services.map(({ name, url, typeDefs }) => ({ name, url, definitions: typeDefs }));
const COMPOSER: Composer = {
  complaints: (services) => {
    const result = cosmo.federateSubgraphs({ subgraphs: forCosmo(services), version });
    return result.success ? result.warnings : result.errors;
  },
  contract: (services, excluded) => {
    const contractTagOptions = { tagNamesToExclude: new Set(excluded), tagNamesToInclude: new Set<string>() };
    const subgraphs = forCosmo(services);
    const result = cosmo.federateSubgraphsContract({ subgraphs, contractTagOptions, version });
    if (!result.success) throw new AggregateError(result.errors, result.errors.join('\n'));
    return result.federatedGraphClientSchema;
  },
};

describeComposer('@wundergraph/composition', COMPOSER);
