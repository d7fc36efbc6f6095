import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { ROOT } from '../support/process.ts';

export const DOCKERFILE = readFileSync(join(ROOT, 'deploy/Dockerfile'), 'utf8');

const lines = DockerfileParser.parse(DOCKERFILE)
  .getInstructions()
  .map((instruction) => {
    const keyword = instruction.getKeyword();
    // The arguments and flags in one line.
    return { keyword, text: instruction.toString().slice(keyword.length + 1) };
  });

/** What stands behind each instruction with this keyword, in all stages. */
export function instructions(keyword: string): string[] {
  return lines.filter((line) => line.keyword === keyword).map(({ text }) => text);
}

/** The same for the last stage, which becomes the image. */
export function instructionsOfImage(keyword: string): string[] {
  const start = lines.findLastIndex((line) => line.keyword === 'FROM');
  return lines
    .slice(start)
    .filter((line) => line.keyword === keyword)
    .map(({ text }) => text);
}
