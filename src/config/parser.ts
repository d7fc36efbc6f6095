import type { z } from 'zod';
import type { Config } from './config.ts';
import type { Region, Variable } from './values.ts';
import { VARIABLES } from './variables.ts';

/** Everything that is wrong with the configuration, a sentence each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads the configuration from environment variables; an empty one counts as not set.
 *
 * @param readFile gives the text of the file that a `NAME_FILE` names
 * @throws ConfigError with every mistake at once; none shows a secret
 */
export function parseConfig(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): Config {
  const problems: string[] = [];
  const complain = ({ name, expected }: Pick<Variable, 'name' | 'expected'>, got: string) => {
    problems.push(`${name}: expected ${expected}, but got ${got}.`);
  };
  const isSet = ({ name, secret }: Variable) => Boolean(env[name] || (secret && env[`${name}_FILE`]));

  function textOf(variable: Variable): string | undefined {
    const { name, expected, secret, default: fallback } = variable;
    const path = secret && env[`${name}_FILE`];
    if (!path) return env[name] || fallback;
    if (env[name]) complain({ name, expected: `either it or ${name}_FILE` }, 'both');
    try {
      return readFile(path).trim();
    } catch {
      // Without its text: someone may have put the secret itself there.
      complain({ name: `${name}_FILE`, expected: `a readable file with ${expected}` }, 'a path that cannot be read');
      return undefined;
    }
  }

  function read<Schema extends z.ZodType>(variable: Variable & { schema: Schema }): z.output<Schema> | undefined {
    const text = textOf(variable);
    if (text === undefined) return undefined;
    const result = variable.schema.safeParse(text);
    if (result.success) return result.data;
    complain(variable, variable.secret || variable.confidential ? whereWrong(result.error) : JSON.stringify(text));
    return undefined;
  }

  function readAddresses(variables: Readonly<Record<Region, Variable & { schema: z.ZodType<string> }>>) {
    const urls = { GLB: read(variables.GLB), NA: read(variables.NA), EU: read(variables.EU) };
    /** Gives each entry the address of its region; complains of a region in use that has none. */
    return <Entry extends { region: Region }>(entries: readonly Entry[]) => {
      for (const region of new Set(entries.map((entry) => entry.region))) {
        if (!isSet(variables[region])) complain(variables[region], `nothing, although region ${region} is in use`);
      }
      return entries.map((entry) => ({ ...entry, baseUrl: urls[entry.region] ?? '' }));
    };
  }

  for (const name of strangersIn(env))
    problems.push(`${name}: there is no such variable. Correct the name or remove it.`);

  // Everything is read whatever the mode, so that every mistake is told at once.
  const config = {
    host: read(VARIABLES.host),
    port: read(VARIABLES.port),
    fingerprintTimeoutMs: read(VARIABLES.fingerprintTimeoutMs),
    captchaTimeoutMs: read(VARIABLES.captchaTimeoutMs),
    captchaFailOpen: read(VARIABLES.captchaFailOpen),
    logLevel: read(VARIABLES.logLevel),
    logHashKey: read(VARIABLES.logHashKey),
    adminPort: read(VARIABLES.adminPort),
    otlpEndpoint: read(VARIABLES.otlpEndpoint),
    routerSecrets: read(VARIABLES.routerSecrets) ?? [],
    limits: {
      bodyBytes: read(VARIABLES.maxBodyBytes),
      tokens: read(VARIABLES.maxTokens),
      depth: read(VARIABLES.maxDepth),
      aliases: read(VARIABLES.maxAliases),
      directives: read(VARIABLES.maxDirectives),
      representations: read(VARIABLES.maxRepresentations),
      upstreamCalls: read(VARIABLES.maxUpstreamCalls),
      captchas: read(VARIABLES.maxCaptchas),
    },
    load: {
      connections: read(VARIABLES.maxConnections),
      inFlight: read(VARIABLES.upstreamMaxInFlight),
      queue: read(VARIABLES.upstreamMaxQueue),
      eventLoopDelayMs: read(VARIABLES.maxEventLoopDelayMs),
      shutdownGraceMs: read(VARIABLES.shutdownGraceMs),
    },
  };
  const allowDirectAccess = read(VARIABLES.allowDirectAccess);
  const mode = read(VARIABLES.upstreamMode);
  const sandboxPort = read(VARIABLES.sandboxPort);
  const applications = read(VARIABLES.fingerprintApplications) ?? [];
  const captchas = read(VARIABLES.captchaConfigurations) ?? [];
  const addressApplications = readAddresses({
    GLB: VARIABLES.fingerprintUrlGlb,
    NA: VARIABLES.fingerprintUrlNa,
    EU: VARIABLES.fingerprintUrlEu,
  });
  const addressCaptchas = readAddresses({
    GLB: VARIABLES.captchaUrlGlb,
    NA: VARIABLES.captchaUrlNa,
    EU: VARIABLES.captchaUrlEu,
  });

  function upstreamsOf(mode: 'live' | 'sandbox') {
    const credentials = [VARIABLES.fingerprintApplications, VARIABLES.captchaConfigurations];
    if (mode === 'sandbox') {
      // Credentials of the real services beside the sandbox are an accident that must not pass for production.
      for (const { name } of credentials.filter(isSet)) {
        complain({ name, expected: `it to be absent while ${VARIABLES.upstreamMode.name} is sandbox` }, 'a value');
      }
      return { mode, port: sandboxPort };
    }
    for (const variable of credentials) if (!isSet(variable)) complain(variable, 'nothing');
    const { routerSecrets, allowDirectAccess: direct } = VARIABLES;
    if (allowDirectAccess === isSet(routerSecrets)) {
      const expected = `either ${routerSecrets.expected}, or ${direct.name}=true`;
      complain({ name: routerSecrets.name, expected }, allowDirectAccess ? 'both' : 'neither');
    }
    return { mode, applications: addressApplications(applications), captchas: addressCaptchas(captchas) };
  }

  const upstreams = mode && upstreamsOf(mode);
  if (problems.length > 0) throw new ConfigError(problems);
  // Sound: all of these have a default or are required, so one that is undefined has put a sentence into problems.
  return { ...config, upstreams } as Config;
}

/** Names the place in a value that is wrong, and what is wrong there; zod's messages quote types, never values. */
function whereWrong({ issues }: z.ZodError): string {
  const places = issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')}: ${message}` : message));
  return `a value that does not fit (${places.join('; ')})`;
}

const KNOWN: ReadonlySet<string> = new Set(
  Object.values<Variable>(VARIABLES).flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
);
const OURS = /^(CAPTCHA|FINGERPRINT|ROUTER|SANDBOX|UPSTREAM)_/i;
/** Kubernetes puts these into every container for each service of the namespace, and one may be called `captcha`. */
const OF_KUBERNETES = /_(SERVICE_(HOST|PORT)(_\w+)?|PORT(_\d+_(TCP|UDP)(_\w+)?)?)$/;

/** Variables that look like ours and are not: a mistyped CAPTCHA_FAIL_OPEN would otherwise leave the default in force. */
function strangersIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(env).filter((name) => OURS.test(name) && !KNOWN.has(name) && !OF_KUBERNETES.test(name));
}
