import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { VARIABLES } from '../../src/config/variables.ts';
import { ROOT } from '../support/process.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: the router and rover replace this placeholder.
const SECRET = '${env.ROUTER_SECRET}';

/** What the platform team copies out of `deploy/` fits what this subgraph does. */

const read = (file: string) => parse(readFileSync(join(ROOT, 'deploy', file), 'utf8'));
const NAME = 'device-trust';

describe('router.yaml', () => {
  const { headers, include_subgraph_errors: errors, traffic_shaping: traffic } = read('router.yaml');

  test('shows the extensions of our errors that a frontend needs, and hides the errors of other subgraphs', () => {
    expect(errors.subgraphs[NAME]).toEqual({ redact_message: false, allow_extensions_keys: ['code', 'retryable'] });
    expect(errors.all).toEqual({ redact_message: true, allow_extensions_keys: [] });
  });

  test('waits longer than this subgraph does for both of its upstreams together, and the router longer still', () => {
    const seconds = (text: string) => Number(/^(\d+)s$/.exec(text)?.[1]);
    const { fingerprintTimeoutMs, captchaTimeoutMs } = VARIABLES;
    const ours = (Number(fingerprintTimeoutMs.default) + Number(captchaTimeoutMs.default)) / 1_000;
    expect(seconds(traffic.subgraphs[NAME].timeout)).toBeGreaterThan(ours);
    expect(seconds(traffic.router.timeout)).toBeGreaterThan(seconds(traffic.subgraphs[NAME].timeout));
  });

  test('never lets two people share an answer', () => {
    expect(traffic.subgraphs[NAME].deduplicate_query).toBe(false);
  });

  test('sends a secret from its environment, and only the headers of the client that it names', () => {
    const [secret, ...others] = headers.subgraphs[NAME].request;
    expect(secret).toEqual({ insert: { name: 'router-authorization', value: SECRET } });
    expect(others.map((rule: object) => Object.keys(rule))).toEqual(others.map(() => ['propagate']));
    expect(headers).not.toHaveProperty('all');
  });
});

describe('supergraph.yaml', () => {
  const { subgraphs, federation_version: version } = read('supergraph.yaml');

  test('names the three subgraphs, each with its routing address and its schema address', () => {
    expect(Object.keys(subgraphs)).toEqual([NAME, 'users', 'orders']);
    for (const { routing_url, schema } of Object.values<{ routing_url: string; schema: { subgraph_url: string } }>(
      subgraphs,
    )) {
      expect(routing_url).toMatch(/^http:\/\/[\w-]+:\d+\/graphql$/);
      expect(schema.subgraph_url).toBe(routing_url);
    }
  });

  test('uses the version of composition that the tests use', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(version).toBe(`=${devDependencies['@apollo/composition']}`);
  });

  test('rover sends the secret as well, because even the schema needs it', () => {
    expect(subgraphs[NAME].schema.introspection_headers).toEqual({ 'Router-Authorization': SECRET });
  });
});
