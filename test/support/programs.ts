import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program that somebody has to install: the variable that can name its executable, its name on PATH, and how to get it. */
export interface Program {
  readonly variable: string;
  readonly command: string;
  readonly how: string;
}

/** The path of an executable: what its variable says, or the first on PATH. Undefined if there is none. */
export function find({ variable, command }: Program): string | undefined {
  const { [variable]: named, PATH = '' } = process.env;
  return (named ? [named] : PATH.split(delimiter).map((folder) => join(folder, command))).find(isExecutable);
}

/** What to do about a program that is not there. */
export const hint = ({ variable, command, how }: Program) =>
  `There is no ${command} on PATH, and ${variable} names none: ${how}`;

/** The path of a program that `npm run test:all` needs, such as promtool. Throws where there is none, with what to do about it. */
export function programOf(command: string, how = `apt-get install -y ${command}`): string {
  const program = { variable: command.toUpperCase().replaceAll('-', '_'), command, how };
  const found = find(program);
  if (!found) throw new Error(hint(program));
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
