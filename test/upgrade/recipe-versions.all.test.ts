import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { ROOT } from '../support/process.ts';
import { fileAt, findLastRelease } from './last-release.ts';

/** The recipes that services copy: their line with a version says whether a copy is out of date. */

const { commit, version: last, changes } = findLastRelease();
/** Undefined until this release has one. */
const [, released] = /^## \[(\d\S+)\]/m.exec(changes) ?? [];
const FILES = readPage('schema/README.md')
  .rowsOf('language', 'file', 'library')
  .map(([, cell = '']) => `schema/${/\((.+)\)/.exec(cell)?.[1]}`);
/** Where a file was up to 0.6.0. */
const formerly = (file: string) =>
  file.replace('schema/recipes/attestation', 'schema/orders/attestation').replace('schema/', 'test/supergraph/');

const LINE = /^.*Recipe (\d+\.\d+\.\d+): .*\n/;
const parse = (text: string) => ({ text: text.trim().replace(LINE, ''), version: LINE.exec(text)?.[1] });

test.each(FILES)(
  '%s has the version of the release that changed it last, and the changelog names the change',
  (file) => {
    const [own, former] = [
      parse(readFileSync(join(ROOT, file), 'utf8')),
      parse(fileAt(commit, file) || fileAt(commit, formerly(file))),
    ];
    if (own.text === former.text) expect(own.version).toBe(former.version);
    else {
      expect(
        own.version?.localeCompare(last, 'en', { numeric: true }),
        `${own.version} is not newer than ${last}`,
      ).toBe(1);
      expect(own.version).toBe(released ?? own.version);
      expect(changes).toMatch(/recipe/i);
    }
  },
);
