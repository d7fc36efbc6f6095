import { execFile } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { promisify } from 'node:util';
import { find, type Program } from '../support/programs.ts';

/** Runs commands in a folder, with a program and the Node of this process first on PATH. The error of one that fails has its stderr. */
export async function sh(commands: string, cwd: string, program?: Program): Promise<string> {
  const found = program && find(program);
  const paths = [...(found ? [found] : []), process.execPath].map((path) => dirname(path));
  const env = { ...process.env, PATH: [...paths, process.env['PATH']].join(delimiter) };
  const { stdout } = await promisify(execFile)('bash', ['-e', '-c', commands], { cwd, env });
  return stdout;
}
