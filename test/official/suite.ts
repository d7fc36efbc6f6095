import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/process.ts';

/**
 * Apollo's federation subgraph compatibility suite. It is installed when a test asks for it, from a package and a lock of its own,
 * because it brings Jest, a process manager and Rover along, which nothing else here needs. No script runs: one would download Rover.
 */

const FOLDER = join(ROOT, 'node_modules/.cache/subgraph-compatibility/');
cpSync(join(import.meta.dirname, 'suite'), FOLDER, { recursive: true });
execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER });

/** Finds and loads the suite's modules. */
export const suite = createRequire(FOLDER);
const NAME = '@apollo/federation-subgraph-compatibility-tests';
/** Where its compiled tests and its subgraphs are. */
export const DIST = dirname(suite.resolve(NAME));
/** The path of the schema that it asks everyone to implement. */
export const PRODUCTS_SDL = suite.resolve(`${NAME}/products.graphql`);
