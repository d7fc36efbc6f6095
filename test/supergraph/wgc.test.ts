import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { print } from 'graphql';
import { expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { readSubgraphs } from './public-schema.ts';

/** Cosmo's tool, which comes from the package registry when this runs, because it is large: `npm run test:routers`. */

const WGC = 'wgc@0.112.7';

test.runIf(process.env['WITH_WGC'])(
  '`wgc router compose` makes the configuration of Cosmo Router from graph.yaml',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'device-trust-wgc-'));
    try {
      await cp(join(ROOT, 'deploy/router/graph.yaml'), join(folder, 'graph.yaml'));
      for (const { name, typeDefs } of readSubgraphs())
        await writeFile(join(folder, `${name}.graphql`), print(typeDefs));
      const options = ['router', 'compose', '--input', 'graph.yaml', '--out', 'router.json'];
      await promisify(execFile)('npx', ['-y', WGC, ...options], { cwd: folder, timeout: 240_000 });
      const { engineConfig, subgraphs } = JSON.parse(await readFile(join(folder, 'router.json'), 'utf8'));
      expect(subgraphs.map(({ name, routingUrl }: Record<string, string>) => [name, routingUrl])).toEqual(
        readSubgraphs().map(({ name, url }) => [name, url]),
      );
      expect(engineConfig.graphqlSchema).toContain('type DeviceJudgement');
      const [own] = engineConfig.datasourceConfigurations;
      expect(own.costConfiguration.typeWeights).toEqual({ DeviceFingerprint: 10 });
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  250_000,
);
