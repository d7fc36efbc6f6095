import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The path of a program that `npm run test:all` needs: what the variable of its name says, such as PROMTOOL, or the first on
 * PATH. Throws where there is none, with what to do about it.
 */
export function programOf(name: string, install = `apt-get install -y ${name}`): string {
  const variable = name.toUpperCase().replaceAll('-', '_');
  const { PATH = '', [variable]: named } = process.env;
  const candidates = named === undefined ? PATH.split(delimiter).map((folder) => join(folder, name)) : [named];
  const found = candidates.find(isExecutable);
  if (!found) {
    const where = named === undefined ? 'on PATH' : `at ${named}`;
    throw new Error(`There is no ${name} ${where}: ${install}, or name it in ${variable}.`);
  }
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
