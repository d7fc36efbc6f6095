import { PRODUCTION, PRODUCTION_WITHOUT_SCOPES } from './production.ts';

/** Who is measured, as data: how each is started. */
export interface Contender {
  readonly name: string;
  /** Paths from the project's folder: what is measured, and the sources that it was built from. */
  readonly built: string;
  readonly source: string;
  /** `{upstream}` stands for the address of the upstream. */
  readonly env: Readonly<Record<string, string>>;
}

/** The build has NODE_ENV as `production` in it, so it is not set here. */
function ours(name: string, env: Contender['env']): Contender {
  return { name, built: 'dist/server/main.js', source: 'src/main.ts', env };
}

/** NODE_ENV makes these faster, if it makes any difference. They get the same requests and check nothing. */
function other(name: string): Contender {
  return {
    name,
    built: `dist/bench/test/bench/contenders/${name}.js`,
    source: `test/bench/contenders/${name}.ts`,
    env: { NODE_ENV: 'production', UPSTREAM_URL: '{upstream}' },
  };
}

/** Those that the goals speak of. */
export const OURS_NAME = 'ours';
export const WITHOUT_SCOPES_NAME = 'ours-without-scopes';
export const FLOOR_NAME = 'floor';
export const MERCURIUS_NAME = 'mercurius';
export const TEMPLATE_NAME = 'apollo-fetch';

/** Each answers the same requests. The second one is ours in another configuration, and only compared with the first one. */
export const CONTENDERS: readonly Contender[] = [
  ours(OURS_NAME, PRODUCTION),
  ours(WITHOUT_SCOPES_NAME, PRODUCTION_WITHOUT_SCOPES),
  other(FLOOR_NAME),
  other(TEMPLATE_NAME),
  other('apollo-undici'),
  other(MERCURIUS_NAME),
  other('yoga'),
];

/** @throws RangeError if there is none of this name */
export function contenderNamed(wanted: string): Contender {
  const contender = CONTENDERS.find(({ name }) => name === wanted);
  if (!contender) throw new RangeError(`there is no contender ${wanted}`);
  return contender;
}
