import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/process.ts';

/** A fenced block of code. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** One page of the documentation, as its reader sees it. */
export interface Page {
  readonly text: string;
  readonly blocks: readonly Block[];
  /** The text without its blocks. */
  readonly prose: string;
  /** The cells of each row of the one table whose header begins with these cells. Throws if there is none. */
  rowsOf(...header: string[]): string[][];
}

const BLOCK = /^```(\w+)\n(.*?)^```$/gms;

/** Reads a page by its path from the root, such as `schema/README.md`. */
export function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const blocks = [...text.matchAll(BLOCK)].map(([, language = '', inner = '']) => ({ language, text: inner }));
  return {
    text,
    blocks,
    prose: text.replace(BLOCK, ''),
    rowsOf: (...header) => {
      const start = `| ${header.join(' | ')} |`;
      const [, table] = text.split(start);
      if (table === undefined) throw new Error(`expected a table that begins with ${start}, but ${path} has none`);
      // The rest of the header, and the line below it.
      const [, , ...lines] = table.split('\n\n', 1).join().trimEnd().split('\n');
      return lines.map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    },
  };
}

/** Every GraphQL operation of a page: a block of its own, a template in TypeScript, or in the body of a command. */
export function operationsOf({ blocks }: Page): string[] {
  return blocks.flatMap(({ language, text }) => {
    if (language === 'graphql') return text.startsWith('extend schema') ? [] : [text];
    const bodies = [...text.matchAll(/"query":("(?:[^"\\]|\\.)*")/g)].map(([, query = '']): string =>
      JSON.parse(query),
    );
    return [...bodies, ...[...text.matchAll(/gql`([^`]+)`/g)].map(([, template = '']) => template)];
  });
}

/** What the first block of `export` lines of a page sets. */
export function exportsOf({ blocks }: Page): Readonly<Record<string, string>> {
  const text = blocks.find((block) => block.language === 'sh' && block.text.startsWith('export '))?.text ?? '';
  return Object.fromEntries(
    [...text.matchAll(/^export (\w+)='?([^'\n]+)'?$/gm)].map(([, name, value]) => [name, value]),
  );
}
