import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import type { Logger } from 'pino';
import { type App, createApp } from './app.ts';
import { ConfigError, unusedNames } from './config/parser.ts';
import { mismatch } from './config/values.ts';
import { framesOf } from './errors.ts';
import { createLogger } from './observability/logger.ts';
import { plugins } from './plugins.ts';
import { exposureOf, listenProblem, summaryOf, unsafeSwitches } from './settings/summary.ts';
import { type Config, parseConfig, VARIABLES } from './settings/variables.ts';
import type { Slice } from './slice.ts';
import { SLICES } from './slices.ts';

// Without this flag, a few early requests with many references make V8 allocate in the old heap for the rest of the process.
// Objects then outlive their request: a collection took five times as long, and a token 1.4 times the CPU.
setFlagsFromString('--no-allocation-site-pretenuring');

let log: Logger | undefined;
let app: App | undefined;

// A report of Node about a crash would hold every secret of the environment.
process.report.excludeEnv = true;

// A closed stream or a full disk must not kill the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

/** Ends the process with a line about the crash. The error's message may quote a request, so it is left out. */
function fail(event: string, thrown: unknown): never {
  const error = framesOf(thrown);
  const lines = error.frames.map((frame) => `  ${frame}\n`).join('');
  if (log) log.fatal({ error }, `the ${event}`);
  else process.stderr.write(`The ${event}: ${error.name}\n${lines}`);
  process.exit(1);
}

// The state after an uncaught exception is unknown. A rejection that nothing handles arrives here as well.
process.on('uncaughtException', (thrown) => fail('process crashed', thrown));

/** A signal that is repeated ends a stop, if this many ms have passed: npm sends each signal twice. */
const SAME_SIGNAL_MS = process.env['npm_lifecycle_event'] === undefined ? 0 : 500;
/** A different signal ends a stop only after this many ms: systemd and terminals can send SIGHUP with the first. */
const OTHER_SIGNAL_MS = 5_000;

/** How long a stop may take after `SHUTDOWN_GRACE_MS`: requests get 7 s, traces 2 s. */
const MAX_STOP_MS = 10_000;

// The kernel ignores a signal to PID 1 unless the process handles it.
let stopping: { readonly signal: NodeJS.Signals; readonly since: number } | undefined;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const now = performance.now();
    if (stopping) {
      const patienceMs = signal === stopping.signal ? SAME_SIGNAL_MS : OTHER_SIGNAL_MS;
      if (now - stopping.since >= patienceMs) process.exit(128 + constants.signals[signal]);
      return;
    }
    // The app has not started, so no request is in flight.
    if (!app) process.exit(0);
    stopping = { signal, since: now };
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

/** The slices that the command line names, or all slices without arguments. */
function chosenSlices(): readonly Slice[] {
  const names = process.argv.slice(2);
  const known: readonly Slice[] = SLICES;
  const unknown = names.find((name) => !known.some((slice) => slice.name === name));
  if (unknown === undefined) return names.length > 0 ? known.filter(({ name }) => names.includes(name)) : known;
  const expected = `names of services, which are ${known.map(({ name }) => name).join(' and ')}`;
  return refuseToStart('Invalid command line:', [mismatch('arguments', expected, JSON.stringify(unknown))]);
}

const chosen = chosenSlices();

/** Reads the configuration, or ends the process with every mistake in it. */
function readConfig(): Config {
  try {
    const config = parseConfig(process.env, (path) => readFileSync(path, 'utf8'), SLICES, chosen);
    const unsafe = config.upstreamMode === 'live' ? unsafeSwitches(process.env, process.execArgv) : [];
    if (unsafe.length > 0) throw new ConfigError(unsafe);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuseToStart('Invalid configuration:', error.problems);
  }
}

function refuseToStart(headline: string, sentences: readonly string[]): never {
  process.stderr.write(`${headline}\n${sentences.map((sentence) => `  ${sentence}\n`).join('')}`);
  // `node --watch`, detected by this variable, would wait for a file to change. A signal ends it with the code of this process.
  if (process.env['WATCH_REPORT_DEPENDENCIES']) process.kill(process.ppid, 'SIGTERM');
  process.exit(1);
}

const config = readConfig();
log = await createLogger({ level: config.logLevel, pretty: config.upstreamMode === 'sandbox' });
// Tests can keep a machine so busy that this process is late through no fault of its own. In live mode nothing lifts this limit.
const maxDelayMs = (config.upstreamMode === 'sandbox' && Number(process.env['TEST_MAX_DELAY_MS'])) || undefined;
app = await createApp(config, log, { slices: chosen, plugins, maxDelayMs }).catch((error: unknown) => {
  const problem = listenProblem(error, config);
  if (problem === undefined) throw error;
  return refuseToStart('The subgraph cannot listen:', [problem]);
});
const { url, graphqlUrl, examples, slices } = app;
log.info(summaryOf(config, slices));
const exposure = exposureOf(config, slices);
if (exposure) log.warn(exposure);
const idle = slices.flatMap((slice) => slice.unused(config));
const unused = unusedNames(process.env, VARIABLES, idle);
if (unused.length > 0) log.warn(`These variables have no effect: ${unused.join(', ')}.`);
if (examples) process.stdout.write(`\nDevice trust is at ${graphqlUrl}, Apollo Sandbox at ${url}\n\n${examples}\n\n`);
