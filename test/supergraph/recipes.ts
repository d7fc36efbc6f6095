import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../support/process.ts';

/** The recipe for each language as a program that reads tokens, and prints a verdict on each. */

export const PYTHON = process.env['PYTHON'] ?? '/usr/bin/python3';

/** Runs a command to its end. The status is null if there is no such program. */
export const run = ([command = '', ...words]: readonly string[], options = {}) =>
  spawnSync(command, words, { encoding: 'utf8', ...options });

/** Those in a folder such as `recipes/`. Their programs are built into another folder. */
export function recipesIn(folder: string, built: string) {
  const languages: Readonly<Record<string, { build: readonly string[]; program: readonly string[] }>> = {
    Python: {
      build: [PYTHON, '-c', 'import jwt, cryptography'],
      program: [PYTHON, join(folder, 'verify_attestation.py')],
    },
    Go: {
      build: ['go', 'build', '-C', join(folder, 'go'), '-o', join(built, 'verify'), '.'],
      program: [join(built, 'verify')],
    },
    Java: {
      build: [
        ...['mvn', '-q', '-B', '-f', join(folder, 'java/pom.xml')],
        ...['dependency:copy-dependencies', `-DoutputDirectory=${join(built, 'java')}`],
      ],
      program: ['java', '-cp', join(built, 'java/*'), join(folder, 'java/VerifyAttestation.java')],
    },
    Rust: {
      // Its libraries take a minute, so what is built of them is kept.
      build: [
        ...['cargo', 'install', '-q', '--debug', '--locked', '--path', join(folder, 'rust')],
        ...['--target-dir', join(ROOT, 'node_modules/.cache/cargo'), '--root', join(built, 'rust')],
      ],
      program: [join(built, 'rust/bin/verify')],
    },
  };
  return Object.entries(languages).map(([language, { build, program }]) => {
    /** Go, Java and Rust are tried where they are installed. An older release can lack a recipe. */
    const isMissing =
      language !== 'Python' &&
      (run([build[0] ?? '', 'version']).error !== undefined || !existsSync(join(folder, language.toLowerCase())));

    /**
     * What the program says about each token, for an order of `user-1`; and why it ended, if it did not end well.
     *
     * @param other the address of the keys of a second issuer, and its name
     */
    async function verify(
      jwksUrl: string,
      issuer: string,
      tokens: readonly string[],
      options = {},
      other: readonly string[] = [],
    ) {
      const [command = '', ...words] = program;
      const child = spawn(command, [...words, jwksUrl, issuer, 'orders', ...other]);
      const ended = new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
      // It may end before it has read everything.
      child.stdin.on('error', () => {});
      const lines = tokens.map((token) =>
        JSON.stringify({ token, action: 'placeOrder', person: 'user-1', ...options }),
      );
      child.stdin.end(`${lines.join('\n')}\n`);
      const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      return { verdicts: stdout.match(/.+/g)?.map((line) => JSON.parse(line)) ?? [], stderr, code };
    }
    return { language, build, isMissing, verify };
  });
}
