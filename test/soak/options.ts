import { parseArgs } from 'node:util';
import { SCENARIOS } from './scenarios.ts';
import type { SIZES } from './sizes.ts';

/** What the command line asks for. */
export interface Options {
  readonly size: keyof typeof SIZES;
  /** Names of scenarios, in their order. */
  readonly only: readonly string[];
  /** How long the bot attacks services that are well, in ms; undefined if as long as the size says. */
  readonly botMs: number | undefined;
  /** Where to write the findings as JSON. */
  readonly json: string | undefined;
}

const ALL = Object.keys(SCENARIOS);
/** Those that need no more than a moment. */
const SMOKE = 'overload-captcha,outage,memory';

const TEN_MINUTES = 600;

export const USAGE = `Options:
  --only NAME,NAME  scenarios: ${ALL.join(', ')}
  --bot             the bot alone, for ten minutes
  --seconds N       how long the bot attacks services that are well
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
      bot: { type: 'boolean' },
      seconds: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const { only, quick, smoke, bot, json } = values;
  const wanted = (only ?? (bot ? 'bot' : smoke ? SMOKE : undefined))?.split(',') ?? ALL;
  const unknown = wanted.filter((name) => !ALL.includes(name));
  if (unknown.length > 0) throw new Error(`there is no scenario ${unknown.join(', ')}; there is ${ALL.join(', ')}`);
  const seconds = Number(values.seconds ?? (bot ? TEN_MINUTES : Number.NaN));
  if (values.seconds !== undefined && !(seconds >= 1 && seconds <= 86_400)) {
    throw new Error(`--seconds: expected 1 to 86400, but got ${values.seconds}`);
  }
  return {
    size: smoke ? 'smoke' : quick ? 'quick' : 'full',
    only: ALL.filter((name) => wanted.includes(name)),
    botMs: Number.isNaN(seconds) ? undefined : seconds * 1_000,
    json,
  };
}
