import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { type App, createApp } from './app.ts';
import { ConfigError, unusedNames } from './config/parser.ts';
import { watchConfig } from './config/rotation.ts';
import { framesOf } from './errors.ts';
import { DEFAULT_POLICY, loadPolicy, type RiskPolicy } from './fingerprint/policy.ts';
import { createLogger } from './observability/logger.ts';
import { exposureOf, listenProblem, summaryOf } from './settings/summary.ts';
import { parseConfig, VARIABLES } from './settings/variables.ts';

/** The process: its configuration, its signals and its exit code. */

// Without this flag, V8 learns from early requests with many references to allocate in the old heap, for as long as the process
// lives. Objects that they refer to then outlive their request: each collection took five times as long, and a token 1.4 times the CPU.
setFlagsFromString('--no-allocation-site-pretenuring');

let log: Logger | undefined;
let app: App | undefined;

// A closed stream or a full disk does not end the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** Ends the process with a line about the crash. The error's message may quote a request, so it is left out. */
function fail(event: string, thrown: unknown): never {
  const error = framesOf(thrown);
  const lines = error.frames.map((frame) => `  ${frame}\n`).join('');
  if (log) log.fatal({ error }, `the ${event}`);
  else process.stderr.write(`The ${event}: ${error.name}\n${lines}`);
  process.exit(1);
}

// The state after such an error is unknown. A rejection that nothing handles arrives here as well. The buffered log lines are
// written at the exit.
process.on('uncaughtException', (thrown) => fail('process crashed', thrown));

/** npm forwards a signal that the process group has already received: a repeat within this time, in ms, is the same signal. */
const SAME_SIGNAL_MS = process.env['npm_lifecycle_event'] === undefined ? 0 : 500;

/** How long a stop may take after `SHUTDOWN_GRACE_MS`: requests get 7 s, traces 2 s. */
const MAX_STOP_MS = 10_000;

// PID 1 ignores unhandled signals.
let stoppingSince: number | undefined;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    const now = performance.now();
    if (stoppingSince !== undefined) {
      if (now - stoppingSince >= SAME_SIGNAL_MS) process.exit(128 + constants.signals[signal]);
      return;
    }
    // The app has not started, so no request is in flight.
    if (!app) process.exit(0);
    stoppingSince = now;
    log?.info('stopping');
    setTimeout(() => {
      fail(`stop takes too long; still open: ${process.getActiveResourcesInfo()}`, new Error('late'));
    }, config.shutdownGraceMs + MAX_STOP_MS);
    app.stop().then(
      () => {
        log?.info('stopped');
        process.exit(0);
      },
      (error: unknown) => fail('stop failed', error),
    );
  });
}

const readConfig = () => parseConfig(process.env, (path) => readFileSync(path, 'utf8'));

/** @throws ConfigError with every mistake of the policy */
function readPolicy(path: string | undefined): RiskPolicy {
  try {
    return path === undefined ? DEFAULT_POLICY : loadPolicy(path);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `${VARIABLES.riskPolicyFile.name}: ${problem}`));
  }
}

/** The configuration and the policy. If either is wrong, the process ends with every mistake of both. */
function readAll() {
  const problems: string[] = [];
  const attempt = <Value>(read: () => Value): Value | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
      return undefined;
    }
  };
  const config = attempt(readConfig);
  const path = config ? config.riskPolicyFile : process.env[VARIABLES.riskPolicyFile.name] || undefined;
  const policy = attempt(() => readPolicy(path));
  return config && policy ? { config, policy } : refuseToStart('Invalid configuration:', problems);
}

function refuseToStart(headline: string, sentences: readonly string[]): never {
  process.stderr.write(`${headline}\n${sentences.map((sentence) => `  ${sentence}\n`).join('')}`);
  // `node --watch`, detected by this variable, would wait for a file to change. A signal ends it with the code of this process.
  if (process.env['WATCH_REPORT_DEPENDENCIES']) process.kill(process.ppid, 'SIGTERM');
  process.exit(1);
}

const { config, policy } = readAll();
log = await createLogger({ level: config.logLevel, pretty: config.upstreamMode === 'sandbox' });
// Tests keep a machine so busy that this process is late for no fault of its own.
const maxDelayMs = Number(process.env['TEST_MAX_DELAY_MS']) || undefined;
app = await createApp(config, log, policy, maxDelayMs).catch((error: unknown) => {
  const problem = listenProblem(error, config);
  if (problem === undefined) throw error;
  return refuseToStart('The subgraph cannot listen:', [problem]);
});
log.info(summaryOf(config, policy.id));
// The text behind the policy ids in kept lines. A sandbox's lines are not kept.
log[config.upstreamMode === 'live' ? 'info' : 'debug'](
  { policy: policy.id, policyText: policy.text },
  'risk policy in use',
);
const exposure = exposureOf(config);
if (exposure) log.warn(exposure);
const unused = unusedNames(process.env, VARIABLES);
if (unused.length > 0) log.warn(`These variables have no effect: ${unused.join(', ')}.`);
const { url, graphqlUrl, examples } = app;
if (examples) process.stdout.write(`\nDevice trust is at ${graphqlUrl}, Apollo Sandbox at ${url}\n\n${examples}\n\n`);

/** Watches a file, and uses its new content. A mistake in it is logged, and the old content stays in use. */
function watch<Value>(file: 'secrets' | 'policy', first: Value, read: () => Value, use: (next: Value) => void): void {
  const refused = {
    secrets: 'the new secrets cannot be used; the old ones stay in use',
    policy: 'the new risk policy cannot be used; the old one stays in use',
  };
  const useNext = (next: Value) => {
    use(next);
    app?.recordReload(file, true);
  };
  watchConfig(first, read, useNext, (problems) => {
    app?.recordReload(file, false);
    log?.error({ problems }, refused[file]);
  });
}
// Watched separately: a bad policy must not block a secret rotation.
watch('secrets', config, readConfig, app.rotate);
const readNext = () => readPolicy(config.riskPolicyFile);
watch('policy', policy, readNext, (next) => {
  app?.usePolicy(next);
  log?.info({ policy: next.id, policyText: next.text }, 'risk policy replaced');
});
