import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { releaseNotes } from '../../.github/release-notes.ts';
import { ROOT, startCommand } from '../support/process.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- What comes next.

## [1.1.0] - 2026-11-30

### Added

- A field.

### Fixed

- A mistake of [1.0.0].

## [1.0.0] - 2026-01-02

- The first one.

## [0.9.0]

- Without a date.

## [0.8.0] - 2025-01-02
`;

describe('the notes of a release', () => {
  test('are the section of its version, without the heading', () => {
    expect(releaseNotes('v1.1.0', '1.1.0', CHANGELOG)).toBe(
      '### Added\n\n- A field.\n\n### Fixed\n\n- A mistake of [1.0.0].',
    );
    expect(releaseNotes('v1.0.0', '1.0.0', CHANGELOG)).toBe('- The first one.');
  });

  test.each([
    ['a tag of another version', 'v1.1.0', '1.0.0', 'The tag is v1.1.0, but package.json has version 1.0.0'],
    ['a tag without v', '1.0.0', '1.0.0', 'expected the tag v1.0.0'],
    ['a version that is not in the changelog', 'v2.0.0', '2.0.0', 'expected a section "## [2.0.0] - "'],
    ['a version whose name begins with that of another', 'v1.1', '1.1', 'expected a section "## [1.1] - "'],
    ['a section without a date', 'v0.9.0', '0.9.0', 'expected a section "## [0.9.0] - "'],
    ['an empty section', 'v0.8.0', '0.8.0', 'expected changes in the section of 0.8.0'],
  ])('%s is refused', (_what, tag, version, message) => {
    expect(() => releaseNotes(tag, version, CHANGELOG)).toThrow(message);
  });
});

describe('the command', () => {
  test('prints them, and refuses a wrong tag with 1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'device-trust-release-'));
    await writeFile(join(folder, 'package.json'), '{ "version": "1.0.0" }');
    await writeFile(join(folder, 'CHANGELOG.md'), CHANGELOG);
    const script = join(ROOT, '.github/release-notes.ts');
    const right = startCommand([process.execPath, script, 'v1.0.0'], { cwd: folder });
    expect(await right.ended).toBe(0);
    expect(right.stdout()).toBe('- The first one.\n');
    const wrong = startCommand([process.execPath, script, 'v9.9.9'], { cwd: folder });
    expect(await wrong.ended).toBe(1);
    expect(wrong.stderr()).toMatch(/^The tag is v9\.9\.9, .*\n$/);
    await rm(folder, { recursive: true });
  });
});

test('our own changelog has notes for each version that it names, or unreleased changes', async () => {
  const changelog = await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const [first, ...versions] = [...changelog.matchAll(/^## \[(.+?)\]/gm)].map(([, name = '']) => name);
  expect(first).toBe('Unreleased');
  for (const version of versions) expect(releaseNotes(`v${version}`, version, changelog)).toContain('- ');
  if (versions.length === 0) expect(changelog.split('## [Unreleased]')[1]).toContain('\n- ');
});
