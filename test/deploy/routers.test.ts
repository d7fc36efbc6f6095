import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { VARIABLES } from '../../src/settings/variables.ts';
import { ROOT } from '../support/process.ts';

/** The files for routers, as far as a mistake can be seen where no router is: one that would let a client be somebody else or pay twice. */

const read = (path: string) => parse(readFileSync(join(ROOT, 'deploy', path), 'utf8'));

/** Who somebody is, what they may see, secrets, ids, and what is traced: the subgraph must never get these from a client. */
const NEVER_FROM_A_CLIENT =
  'authorization cookie router-authorization traceparent x-request-id x-user-id x-user-scopes'.split(' ');
const OURS_MS = Number(VARIABLES.fingerprintTimeoutMs.default) + Number(VARIABLES.captchaTimeoutMs.default);

type Rule = Readonly<Record<string, string>>;

/** Of each router: how it removes headers, where its secret comes from, its waits, and what must not merge or repeat. */
const ROUTERS = [
  {
    file: 'apollo-router.yaml',
    removes: ([first]: readonly Record<string, Rule>[]) =>
      NEVER_FROM_A_CLIENT.filter((name) => new RegExp(first?.['remove']?.['matching']?.slice(4) ?? '^$').test(name)),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the router replaces this placeholder.
    secret: { insert: { name: 'router-authorization', value: '${env.ROUTER_SECRET}' } },
    waits: { router: { timeout: '15s' }, subgraphs: { 'device-trust': { timeout: '10s', deduplicate_query: false } } },
  },
  {
    file: 'hive-router.yaml',
    removes: ([first]: readonly { remove: { named: string[] } }[]) => first?.remove.named.toSorted(),
    secret: { insert: { name: 'router-authorization', value: { from_env: 'ROUTER_SECRET' } } },
    waits: {
      router: { request_timeout: '15s', dedupe: { enabled: false } },
      subgraphs: { 'device-trust': { request_timeout: '10s', dedupe_enabled: false } },
    },
  },
  {
    file: 'cosmo.yaml',
    // An expression that fails leaves the header of a client as it is, and so does an empty text: each has a fixed one first.
    removes: (rules: readonly Rule[]) =>
      rules.flatMap(({ op, name = '', value }) => (op === 'set' && value ? [name.toLowerCase()] : [])).toSorted(),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the router replaces this placeholder.
    secret: { op: 'set', name: 'Router-Authorization', value: '${ROUTER_SECRET}' },
    waits: { all: { retry: { enabled: false } }, subgraphs: { 'device-trust': { request_timeout: '10s' } } },
  },
];

describe.each(ROUTERS)('$file', ({ file, removes, secret, waits }) => {
  const { headers, traffic_shaping } = read(`router/${file}`);
  const rules = headers.subgraphs['device-trust'].request;

  test('the file of a router removes what a client must not send, and sends the secret', () => {
    expect(removes(rules)).toEqual(NEVER_FROM_A_CLIENT);
    expect(rules).toContainEqual(secret);
  });

  test('the file of a router sends the same person to the service that acts, which compares the person of a proof with this one', () => {
    const { request } = headers.subgraphs.orders;
    expect(removes(request)).toEqual(['x-user-id', 'x-user-scopes']);
    expect(rules).toEqual(expect.arrayContaining(request.slice(-2)));
  });

  test('the file of a router waits for us longer than we do for both services, and merges and repeats nothing', () => {
    expect(traffic_shaping).toMatchObject(waits);
    expect(OURS_MS).toBeLessThan(10_000);
  });
});

test('Apollo Router needs a licence for nothing in its first file, and believes the edge what this overwrites', () => {
  const blocks = Object.keys(read('router/apollo-router.yaml'));
  expect(blocks).toEqual(['rhai', 'headers', 'include_subgraph_errors', 'supergraph', 'traffic_shaping']);
  const script = readFileSync(join(ROOT, 'deploy/router/apollo-router.rhai'), 'utf8');
  const taken = Array.from(script.matchAll(/headers\.values\("(.+?)"\)/g), ([, name]) => name);
  const edge = readFileSync(join(ROOT, 'deploy/router/haproxy-edge.cfg'), 'utf8');
  const overwritten = [...taken, 'x-client-ip', 'x-ja4', 'traceparent', 'b3', 'uber-trace-id'];
  expect(overwritten.filter((name) => !edge.includes(`del-header ${name}\n`))).toEqual([]);
});

test('supergraph.yaml and graph.yaml name the same addresses, and the composition that the tests use', () => {
  const { federation_version, subgraphs } = read('supergraph.yaml');
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(federation_version).toBe(`=${devDependencies['@apollo/composition']}`);
  const named = Object.entries<{ routing_url: string }>(subgraphs).map(([name, { routing_url }]) => [
    name,
    routing_url,
  ]);
  expect(read('router/graph.yaml').subgraphs.map((one: Rule) => [one['name'], one['routing_url']])).toEqual(named);
});
