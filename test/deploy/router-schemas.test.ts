import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { readRouterFile } from './router-files.ts';

/**
 * Holds the files of `deploy/router/` against the routers' own schemas. None of these is in a package that can be installed, so
 * a variable names the file of each, and without it the test is skipped: `router config schema` prints the one of Apollo
 * Router, `config_schema_generator` in its repository makes the one of Hive Router, and Cosmo Router has its own as
 * `router/pkg/config/config.schema.json`. The licence of Apollo Router's forbids to keep it here.
 */

// Their extra keywords and formats, such as `uint` and `go-duration`, are for the routers alone.
const options = { strict: false, allErrors: true, validateFormats: false };
const SCHEMAS = [
  ['APOLLO_ROUTER_SCHEMA', 'apollo-router.yaml', new Ajv(options), { traffic_shaping: { subgraph: {} } }],
  ['HIVE_ROUTER_SCHEMA', 'hive-router.yaml', new Ajv2020(options), { traffic_shaping: { subgraph: {} } }],
  ['COSMO_ROUTER_SCHEMA', 'cosmo.yaml', new Ajv2020(options), { traffic_shaping: { subgraph: {} } }],
] as const;

describe.each(SCHEMAS)('with %s', (variable, file, ajv, mistyped) => {
  const path = process.env[variable];

  test.runIf(path)(`${file} is valid, and a mistyped setting is not`, () => {
    const validate = ajv.compile(JSON.parse(readFileSync(path ?? '', 'utf8')));
    validate(readRouterFile(file));
    expect(validate.errors).toBeNull();
    expect(validate({ ...readRouterFile(file), ...mistyped })).toBe(false);
  });
});
