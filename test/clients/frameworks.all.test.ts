import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { readSubgraphs } from '../supergraph/public-schema.ts';
import { ROOT } from '../support/process.ts';
import { find } from '../support/programs.ts';
import { GO, PYTHON } from './columns.ts';
import { sh } from './sh.ts';

/** Subgraphs of other frameworks that refer to a stored judgement, with the settings that the README names. */

/** The order subgraph of the README. */
const { text: SCHEMA = '' } = readPage('README.md').blocks.find(({ text }) => text.includes('judgement:')) ?? {};
const ours = readSubgraphs().slice(0, 1);

const FRAMEWORKS = [
  {
    name: 'strawberry',
    program: PYTHON.program,
    print: `python3 -m venv venv
      venv/bin/pip install -q -r requirements.txt
      venv/bin/python main.py`,
  },
  { name: 'gqlgen', program: GO.program, print: 'go tool gqlgen generate >&2 && go run .' },
].filter(({ program }) => process.env['WITH_CLIENTS'] && program && find(program));

test.skipIf(FRAMEWORKS.length === 0)(
  'a subgraph of each framework composes with this one',
  { timeout: 600_000 },
  async () => {
    for (const { name, program, print } of FRAMEWORKS) {
      const folder = join(ROOT, 'dist/clients', name);
      await mkdir(folder, { recursive: true });
      await cp(join(import.meta.dirname, name), folder, { recursive: true });
      await writeFile(join(folder, 'schema.graphql'), SCHEMA);
      const theirs = { name, url: `http://${name}`, typeDefs: parse(await sh(print, folder, program)) };
      const { errors = [], hints = [] } = apollo.composeServices([...ours, theirs]);
      expect([name, ...errors, ...hints]).toEqual([name]);
      const { errors: others = [], publicSdl } = guild.composeServices([...ours, theirs]);
      expect([name, ...others]).toEqual([name]);
      expect(publicSdl).toMatch(/type FingerprintDevice {[^}]+orders: \[Order!\]!/);
    }
  },
);
