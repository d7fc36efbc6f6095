import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';
import type { SIZES } from './sizes.ts';

/** What the command line asks for. */
export interface Options {
  readonly size: keyof typeof SIZES;
  /** Names of scenarios, in their order. */
  readonly only: readonly string[];
  /** Where to write the findings as JSON. */
  readonly json: string | undefined;
}

const ALL = Object.keys(SCENARIOS);
/** Those that need no more than a moment. */
const SMOKE = 'overload-captcha,outage,memory';

export const USAGE = `Options:
  --only NAME,NAME  scenarios: ${ALL.join(', ')}
  --quick           90 s at most; figures are less exact
  --smoke           seconds, from the sources, three scenarios: shows that it works, no more
  --json FILE       the findings as JSON as well
`;

/** Reads the command line. Throws an Error that says what is wrong with it. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      quick: { type: 'boolean' },
      smoke: { type: 'boolean' },
      json: { type: 'string' },
    },
  });
  const { only, quick, smoke, json } = values;
  const wanted = (only ?? (smoke ? SMOKE : undefined))?.split(',') ?? ALL;
  const unknown = wanted.filter((name) => !ALL.includes(name));
  if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}; there is ${ALL.join(', ')}`);
  return {
    size: smoke ? 'smoke' : quick ? 'quick' : 'full',
    only: ALL.filter((name) => wanted.includes(name)),
    json,
  };
}
