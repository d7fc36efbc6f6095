import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { Logger } from 'pino';
import { type App, createApp } from './app.ts';
import type { Config } from './config/config.ts';
import { ConfigError, parseConfig } from './config/parser.ts';
import { watchConfig } from './config/rotation.ts';
import { framesOf } from './errors.ts';
import { createLogger } from './observability/logger.ts';

/** The process: configuration in, signals, exit code out. */

let log: Logger | undefined;
let app: App | undefined;

// The state after such an error is unknown, so the process ends. Its message may quote a caller, so only its frames are
// told. Rejections that nobody handles arrive here as well. The exit writes what is left of the log.
process.on('uncaughtException', (thrown) => {
  const error = framesOf(thrown);
  const lines = error.frames.map((frame) => `  ${frame}\n`).join('');
  if (log) log.fatal({ error }, 'the process crashed');
  else process.stderr.write(`The process crashed: ${error.name}\n${lines}`);
  process.exit(1);
});

// Handled from the beginning: process 1 of a container does not get a signal that nothing handles.
let isStopping = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    // A second one ends it at once.
    if (isStopping) process.exit(128 + constants.signals[signal]);
    // It still starts, so that nothing is under way.
    if (!app) process.exit(0);
    isStopping = true;
    log?.info('stopping');
    app.stop().then(
      () => {
        log?.info('stopped');
        process.exit(0);
      },
      () => process.exit(1),
    );
  });
}

const readConfig = () => parseConfig(process.env, (path) => readFileSync(path, 'utf8'));

function readFirstConfig(): Config {
  try {
    return readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    refuseToStart('The configuration has to be corrected:', error.problems);
  }
}

async function start(config: Config, log: Logger): Promise<App> {
  try {
    return await createApp(config, log);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    refuseToStart('The subgraph cannot listen:', [error.message]);
  }
}

function refuseToStart(headline: string, sentences: readonly string[]): never {
  process.stderr.write(`${headline}\n${sentences.map((sentence) => `  ${sentence}\n`).join('')}`);
  process.exit(1);
}

function welcome({ url, graphqlUrl, examples }: App): string {
  const commands = examples.map(({ title, command }) => `${title}\n\n${command}\n\n`).join('');
  return `\nDevice trust is at ${graphqlUrl}, Apollo Sandbox at ${url}\n\n${commands}`;
}

const config = readFirstConfig();
log = await createLogger({ level: config.logLevel, pretty: config.upstreams.mode === 'sandbox' });
app = await start(config, log);
if (app.examples.length > 0) process.stdout.write(welcome(app));

// Secrets in files are rotated by writing the files. What is wrong with a new one is told, and the old one goes on.
watchConfig(config, {
  read: readConfig,
  everyMs: 2_000,
  onChange: app.rotate,
  onProblems: (problems) => log?.error({ problems }, 'the new secrets cannot be used; the old ones go on'),
});
