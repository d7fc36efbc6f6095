import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Apollo's federation subgraph compatibility suite. It is installed when a test asks for it, in a folder of its own, because it brings
 * Jest, a process manager and Rover along, which nothing else here needs. Rover's binary would be downloaded by a script.
 */

const FOLDER = fileURLToPath(new URL('suite/', import.meta.url));
execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER });

/** Finds and loads the suite's modules. */
export const suite = createRequire(FOLDER);
const NAME = '@apollo/federation-subgraph-compatibility-tests';
/** Where its compiled tests and its subgraphs are. */
export const DIST = dirname(suite.resolve(NAME));
/** The path of the schema that it asks everyone to implement. */
export const PRODUCTS_SDL = suite.resolve(`${NAME}/products.graphql`);
