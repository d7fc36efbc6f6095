import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT, shell } from '../support/process.ts';

/** The sources of the release before this one. */

/** In a container of CI the repository can belong to another user. */
const GIT = ['-c', 'safe.directory=*'];
const git = (...words: string[]) => execFileSync('git', [...GIT, ...words], { cwd: ROOT, encoding: 'utf8' }).trim();

/** The commit of a version: its tag, or the first one that has it in package.json. Empty if this clone has neither. */
function commitOf(version: string): string {
  const tagged = git('rev-list', '-1', '--ignore-missing', `v${version}`, '--');
  if (tagged || git('rev-parse', '--is-shallow-repository') === 'true') return tagged;
  return git('log', '--format=%H', '--reverse', `-S"version": "${version}"`, '--', 'package.json').split('\n')[0] ?? '';
}

/** The version of the second section: the first one is about this commit, released or not. */
export function findLastRelease() {
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const [, [heading = '', version = ''] = []] = [...changelog.matchAll(/^## \[(\S+)\]/gm)];
  const commit = commitOf(version);
  if (!commit) throw new Error(`This clone does not have release ${version}: git fetch --tags --unshallow`);
  return { commit, version, changes: changelog.split(heading)[0] ?? '' };
}

/** A file as a commit has it, or an empty text. */
export function fileAt(commit: string, path: string): string {
  return git('ls-tree', commit, path) ? git('show', `${commit}:${path}`) : '';
}

/** A version as far as a change of it may break something (semver, 4 and 8). */
const breakingPart = (version = '') => /^(0\.)?\d+/.exec(version)?.[0];

/** Its sources in a folder of their own, with packages that fit, and what the changelog says since. */
export async function checkOutLastRelease() {
  const { commit, changes } = findLastRelease();
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-release-'));
  await shell(`git ${GIT.join(' ')} archive ${commit} | tar -x -C ${folder}`);
  const [theirs, ours] = [folder, ROOT].map(
    (path): Record<string, string> => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).dependencies,
  );
  const doFit = Object.entries({ ...theirs }).every(([name, of]) => breakingPart(of) === breakingPart(ours?.[name]));
  if (doFit) await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  else await shell(`cd ${folder} && npm ci --silent --omit=dev --ignore-scripts`);
  return { folder, changes };
}
