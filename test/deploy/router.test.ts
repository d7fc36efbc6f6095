import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/variables.ts';
import { ROOT } from '../support/process.ts';
import { readYaml } from './manifests.ts';
import { NEVER_FROM_A_CLIENT, PASSED_ON, readRouterFile, settingsOf } from './router-files.ts';

/**
 * What the platform team copies out of `deploy/router/` does what its pages say. No router can be run here, so the settings are
 * compared with a list, each with what the router's own schema or source says of it: Apollo Router 2.13.1, Hive Router 0.2.0,
 * Cosmo Router 0.341.0. `router-schemas.test.ts` holds the files against whole schemas. Hive Gateway does run:
 * `test/supergraph/hive-gateway.test.ts`.
 */

const NAME = 'device-trust';
// biome-ignore lint/suspicious/noTemplateCurlyInString: rover and Apollo Router replace this placeholder.
const APOLLO_SECRET = '${env.ROUTER_SECRET}';

const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1]);
const { fingerprintTimeoutMs, captchaTimeoutMs } = VARIABLES;
/** How long this subgraph may take for both of its upstreams, in seconds. */
const OURS = (Number(fingerprintTimeoutMs.default) + Number(captchaTimeoutMs.default)) / 1_000;

/** All but the rules for headers, whose order counts. */
const ownSettings = (file: string) => {
  const { headers, ...rest } = readRouterFile(file);
  return settingsOf(rest);
};

describe('apollo-router.yaml', () => {
  const { headers } = readRouterFile('apollo-router.yaml');
  const rules: readonly Record<string, Record<string, string>>[] = headers.subgraphs[NAME].request;

  test('has these settings and no others', () => {
    expect(ownSettings('apollo-router.yaml')).toEqual({
      // Where the router looks for the script, and its name.
      'rhai.scripts': '.',
      'rhai.main': 'apollo-router.rhai',
      // A boolean starts beside every value of `all`. The object form does not start beside `true` or `false`, and an `all` of
      // ours would decide about the errors of other teams.
      'include_subgraph_errors.subgraphs.device-trust': true,
      'traffic_shaping.router.timeout': '15s',
      'traffic_shaping.subgraphs.device-trust.timeout': '10s',
      'traffic_shaping.subgraphs.device-trust.deduplicate_query': false,
      'limits.max_depth': 15,
      'limits.max_height': 300,
      'limits.max_aliases': 30,
      'limits.max_root_fields': 20,
      // `enforce` is for whoever has looked at their own operations.
      'demand_control.enabled': true,
      'demand_control.mode': 'measure',
      'demand_control.strategy.static_estimated.list_size': 10,
      'demand_control.strategy.static_estimated.max': 1000,
      'demand_control.strategy.static_estimated.subgraph.subgraphs.device-trust.max': 500,
    });
  });

  test('removes what a client must not send before it inserts its own', () => {
    const [first, ...others] = rules;
    const names = new RegExp(first?.['remove']?.['matching']?.replace('(?i)', '') ?? '^$');
    expect(NEVER_FROM_A_CLIENT.filter((name) => !names.test(name))).toEqual([]);
    expect(PASSED_ON.filter((name) => names.test(name))).toEqual([]);
    expect(others.slice(0, 4)).toEqual([
      { insert: { name: 'router-authorization', value: APOLLO_SECRET } },
      { insert: { name: 'x-request-id', from_context: 'device_trust::request_id' } },
      { insert: { name: 'x-user-id', from_context: 'device_trust::user_id' } },
      { insert: { name: 'x-user-scopes', from_context: 'device_trust::user_scopes' } },
    ]);
    expect(others.slice(4).map(({ propagate }) => propagate?.['named'])).toEqual(expect.arrayContaining(PASSED_ON));
    expect(others).toHaveLength(4 + PASSED_ON.length);
  });

  test('the script sets what the rules take from the context, and nothing else', () => {
    const script = readFileSync(join(ROOT, 'deploy/router/apollo-router.rhai'), 'utf8');
    const set = [...script.matchAll(/request\.context\["([^"]+)"\] =/g)].map(([, key]) => key);
    const taken = rules.flatMap(({ insert }) => insert?.['from_context'] ?? []);
    expect(set).toEqual(taken);
  });
});

describe('hive-router.yaml', () => {
  const { headers } = readRouterFile('hive-router.yaml');

  test('has these settings and no others', () => {
    expect(ownSettings('hive-router.yaml')).toEqual({
      'error_masking.subgraphs.device-trust.enabled': false,
      'error_masking.subgraphs.device-trust.extensions.mode': 'allow',
      'error_masking.subgraphs.device-trust.extensions.keys': ['code', 'retryable'],
      'traffic_shaping.router.request_timeout': '15s',
      'traffic_shaping.router.dedupe.enabled': false,
      'traffic_shaping.subgraphs.device-trust.request_timeout': '10s',
      // `true` by default.
      'traffic_shaping.subgraphs.device-trust.dedupe_enabled': false,
      'limits.max_depth.n': 15,
      'limits.max_aliases.n': 30,
      'limits.max_tokens.n': 2000,
      'limits.max_directives.n': 50,
      'demand_control.enabled': true,
      'demand_control.operation_cost.max': 1000,
      'demand_control.operation_cost.mode': 'measure',
      'demand_control.default_list_size.all': 10,
      'demand_control.subgraphs_budget.mode': 'measure',
      'demand_control.subgraphs_budget.subgraphs.device-trust': 500,
    });
  });

  test('removes what a client must not send before it inserts its own', () => {
    expect(Object.keys(headers.subgraphs)).toEqual([NAME]);
    const [first, second, ...others] = headers.subgraphs[NAME].request;
    expect(first.remove.named.toSorted()).toEqual(NEVER_FROM_A_CLIENT);
    // A rule under `all` may have passed the others on as well. The router appends, and a repeated header counts as absent.
    expect(second.remove.named.toSorted()).toEqual(PASSED_ON);
    expect(others.slice(0, 4)).toEqual([
      { insert: { name: 'router-authorization', value: { from_env: 'ROUTER_SECRET' } } },
      { insert: { name: 'x-request-id', expression: 'uuid_v4()' } },
      { insert: { name: 'x-user-id', expression: '.request.jwt.claims.sub' } },
      { insert: { name: 'x-user-scopes', expression: 'join(.request.jwt.scopes, " ") ?? null' } },
    ]);
    const named = others.slice(4).flatMap(({ propagate }: { propagate: { named: string[] } }) => propagate.named);
    expect(named.toSorted()).toEqual(PASSED_ON);
  });
});

describe('cosmo.yaml', () => {
  const { headers } = readRouterFile('cosmo.yaml');

  test('has these settings and no others', () => {
    expect(ownSettings('cosmo.yaml')).toEqual({
      version: '1',
      'subgraph_error_propagation.allowed_extension_fields': ['code', 'retryable'],
      // Both are `true` by default.
      'engine.enable_single_flight': false,
      'engine.enable_inbound_request_deduplication': false,
      // The router reads this one alone; it ignores a `retry` of a subgraph.
      'traffic_shaping.all.retry.enabled': false,
      'traffic_shaping.subgraphs.device-trust.request_timeout': '10s',
      'traffic_shaping.subgraphs.device-trust.max_conns_per_host': 512,
      'batching.enabled': false,
      'security.complexity_limits.depth.enabled': true,
      'security.complexity_limits.depth.limit': 15,
      'security.complexity_limits.root_fields.enabled': true,
      'security.complexity_limits.root_fields.limit': 20,
      'security.complexity_limits.root_field_aliases.enabled': true,
      'security.complexity_limits.root_field_aliases.limit': 30,
      'security.complexity_limits.total_fields.enabled': true,
      'security.complexity_limits.total_fields.limit': 300,
      'security.cost_control.enabled': true,
      'security.cost_control.mode': 'measure',
      'security.cost_control.estimated_list_size': 10,
      'security.cost_control.max_estimated_limit': 1000,
    });
  });

  test('overwrites what a client must not send', () => {
    const rules: readonly Record<string, string>[] = headers.subgraphs[NAME].request;
    const set = rules.filter(({ op }) => op === 'set');
    const fixed = set.filter(({ value }) => value !== undefined);
    // An expression that fails leaves the header as it is, and the request goes on. So each has a fixed text first.
    expect(fixed.map(({ name = '' }) => name.toLowerCase()).toSorted()).toEqual(NEVER_FROM_A_CLIENT);
    expect(set.slice(0, fixed.length)).toEqual(fixed);
    // An empty text would leave the header of a client as it is.
    for (const { value, expression = '' } of set) if (value !== ' ') expect(value ?? expression).toMatch(/SECRET|' '$/);
    expect(set.slice(fixed.length).map(({ name }) => name)).toEqual(['X-User-Id', 'X-User-Scopes']);
    const propagated = rules.filter(({ op }) => op === 'propagate').map(({ named = '' }) => named.toLowerCase());
    expect(propagated.toSorted()).toEqual(PASSED_ON);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the router replaces this placeholder.
    expect(set[0]).toEqual({ op: 'set', name: 'Router-Authorization', value: '${ROUTER_SECRET}' });
  });
});

describe('every router', () => {
  test('overwrites the headers that the deployment believes, which requires scopes from the start', () => {
    const { TRUSTED_HEADERS } = readYaml('kubernetes/config.yaml').data;
    const { subject, scopes, ...others } = VARIABLES.trustedHeaders.schema.parse(TRUSTED_HEADERS);
    // What the edge measures is for whoever has an edge that overwrites it.
    expect(others).toEqual({});
    expect(NEVER_FROM_A_CLIENT).toEqual(expect.arrayContaining([subject, scopes]));
  });

  const TIMES = [
    ['apollo-router.yaml', 'timeout', 'timeout'],
    ['hive-router.yaml', 'request_timeout', 'request_timeout'],
  ] as const;

  test.each(TIMES)('%s: the router waits longer than for us, and for us longer than we do', (file, key, whole) => {
    const { router, subgraphs } = readRouterFile(file)['traffic_shaping'];
    expect(seconds(subgraphs[NAME][key])).toBeGreaterThan(OURS);
    expect(seconds(router[whole])).toBeGreaterThan(seconds(subgraphs[NAME][key]));
  });

  test('cosmo.yaml: the router waits longer for us than we do', () => {
    const { subgraphs } = readRouterFile('cosmo.yaml')['traffic_shaping'];
    expect(seconds(subgraphs[NAME].request_timeout)).toBeGreaterThan(OURS);
  });
});

describe('supergraph.yaml and graph.yaml', () => {
  const { subgraphs, federation_version: version } = readYaml('supergraph.yaml');

  test('name the three subgraphs with the same addresses, for routing and for the schema', () => {
    expect(Object.keys(subgraphs)).toEqual([NAME, 'users', 'orders']);
    for (const { routing_url, schema } of Object.values<{ routing_url: string; schema: { subgraph_url: string } }>(
      subgraphs,
    )) {
      expect(routing_url).toMatch(/^http:\/\/[\w-]+:\d+\/graphql$/);
      expect(schema.subgraph_url).toBe(routing_url);
    }
    const addresses: readonly { name: string; routing_url: string }[] = readRouterFile('graph.yaml')['subgraphs'];
    expect(addresses.map(({ name, routing_url }) => [name, routing_url])).toEqual(
      Object.entries<{ routing_url: string }>(subgraphs).map(([name, { routing_url }]) => [name, routing_url]),
    );
  });

  test('use the version of composition that the tests use', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(version).toBe(`=${devDependencies['@apollo/composition']}`);
  });

  test('rover sends the secret as well, because even the schema needs it', () => {
    expect(subgraphs[NAME].schema.introspection_headers).toEqual({ 'Router-Authorization': APOLLO_SECRET });
  });
});
