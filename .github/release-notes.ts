import { readFileSync } from 'node:fs';

/**
 * What CHANGELOG.md says about a version, without its heading. Throws with what to do if the tag is not this version, if the
 * version has no section with a date, or an empty one, or if there is no place for the next changes.
 *
 * @param files where the files of that tag are: a link in a release is not relative to a file
 */
export function releaseNotes(tag: string, version: string, changelog: string, files: string): string {
  if (tag !== `v${version}`) {
    throw new Error(`The tag is ${tag}, but package.json has version ${version}: expected the tag v${version}.`);
  }
  const [next, ...sections] = changelog.split(/^## /m).slice(1);
  if (!next?.startsWith('[Unreleased]\n'))
    throw new Error('CHANGELOG.md: expected a section "## [Unreleased]" first, for the changes after this release.');
  const heading = `[${version}] - `;
  const section = sections.find((text) => text.startsWith(heading));
  if (!section || !/^\d{4}-\d\d-\d\d\n/.test(section.slice(heading.length))) {
    throw new Error(`CHANGELOG.md: expected a section "## ${heading}" with a date such as 2026-01-31.`);
  }
  const notes = section.slice(section.indexOf('\n')).trim();
  if (notes === '') throw new Error(`CHANGELOG.md: expected changes in the section of ${version}, but it is empty.`);
  return notes.replaceAll(/\]\((?!https:)/g, `](${files}/`);
}

// For example `node .github/release-notes.ts v1.2.3 https://github.com/owner/name`, from the project's folder.
if (import.meta.main) {
  try {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const [, , tag = '', repository = ''] = process.argv;
    const changelog = readFileSync('CHANGELOG.md', 'utf8');
    process.stdout.write(`${releaseNotes(tag, version, changelog, `${repository}/blob/${tag}`)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
