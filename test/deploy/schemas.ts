import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/process.ts';
import type { Manifest } from './manifests.ts';

/** Where `kubernetes-models` has the kind of an object. */
const moduleOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`;

/** Holds an object against the published schema of its kind. Throws an error that names every flaw. */
export async function validate(manifest: Manifest): Promise<void> {
  const { [manifest.kind]: Model } = await import(moduleOf(manifest));
  new Model(manifest).validate();
}

/**
 * Holds objects against the published types of their kinds, which know no further field: to the schemas a mistyped
 * `readinessProbe` is a field like any other. Gives what the compiler complains of.
 */
export async function typeErrorsOf(manifests: readonly Manifest[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-types-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const lines = manifests.map(
      (manifest, index) =>
        `import type { I${manifest.kind} as Kind${index} } from '${moduleOf(manifest)}';\n` +
        `export const object${index}: Kind${index} = ${JSON.stringify(manifest)};\n`,
    );
    await writeFile(join(folder, 'manifests.ts'), lines.join(''));
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck'];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    await promisify(execFile)(tsc, [...options, 'manifests.ts'], { cwd: folder, timeout: 60_000 });
    return '';
  } catch (error) {
    if (error instanceof Error && 'stdout' in error && error.stdout) return String(error.stdout);
    throw error;
  } finally {
    await rm(folder, { recursive: true });
  }
}
