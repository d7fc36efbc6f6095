import packageJson from '../../package.json' with { type: 'json' };

/** The version of this subgraph. A build has the one that it was built from. */
export const VERSION = packageJson.version;
