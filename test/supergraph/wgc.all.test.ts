import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { print } from 'graphql';
import { expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { readSubgraphs } from './public-schema.ts';

/** Cosmo's tool, which npx brings from the package registry. */

const WGC = 'wgc@0.112.7';

test('`wgc router compose` makes the configuration of Cosmo Router from graph.yaml', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-wgc-'));
  await cp(join(ROOT, 'deploy/router/graph.yaml'), join(folder, 'graph.yaml'));
  const services = readSubgraphs();
  for (const { name, typeDefs } of services) await writeFile(join(folder, `${name}.graphql`), print(typeDefs));
  const options = ['router', 'compose', '--input', 'graph.yaml', '--out', 'router.json'];
  await promisify(execFile)('npx', ['-y', WGC, ...options], { cwd: folder, timeout: 240_000 });
  const { engineConfig, subgraphs } = JSON.parse(await readFile(join(folder, 'router.json'), 'utf8'));
  await rm(folder, { recursive: true });
  const addresses = subgraphs.map(({ name, routingUrl }: Record<string, string>) => [name, routingUrl]);
  expect(addresses).toEqual(services.map(({ name, url }) => [name, url]));
  expect(engineConfig.graphqlSchema).toContain('type DeviceJudgement');
  expect(engineConfig.datasourceConfigurations[0].costConfiguration.typeWeights).toEqual({ DeviceFingerprint: 10 });
}, 250_000);
