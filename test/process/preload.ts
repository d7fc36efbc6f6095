import { registerHooks } from 'node:module';
import { Server } from 'node:net';

/** Loaded before a program (`node --import`), with PRELOAD saying what for. */

const { PRELOAD = '', CANARY = '' } = process.env;

/** An error of a library might say what somebody sent. */
function throwIt(): never {
  if (PRELOAD.endsWith('text')) throw CANARY;
  const words = `cannot read "${CANARY}"\n    at ${CANARY} (/nowhere.ts:1:1)`;
  throw Object.assign(new TypeError(words, { cause: new Error(CANARY) }), { input: CANARY });
}

const { listen } = Server.prototype;

const PURPOSES: Readonly<Record<string, () => void>> = {
  'exception at SIGUSR2': () => process.once('SIGUSR2', throwIt),
  'rejection at SIGUSR2': () => process.once('SIGUSR2', () => void Promise.reject().catch(throwIt)),
  'rejection at SIGUSR2 with a text': () => process.once('SIGUSR2', () => void Promise.reject().catch(throwIt)),
  'exception while it stops': () => Object.assign(Server.prototype, { close: throwIt }),
  // What the program asks before it has a log.
  'exception at the start': () => Object.defineProperty(process.stdout, 'isTTY', { get: throwIt }),
  'SIGTERM while it starts': () => {
    Server.prototype.listen = function (this: Server, ...args: unknown[]) {
      Server.prototype.listen = listen;
      process.kill(process.pid, 'SIGTERM');
      // Safe: what is passed on is what came in.
      return listen.apply(this, args as Parameters<typeof listen>);
    };
  },
  'production dependencies': () =>
    registerHooks({
      resolve: (specifier, context, next) => {
        if (specifier !== 'pino-pretty') return next(specifier, context);
        throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
      },
    }),
};
PURPOSES[PRELOAD]?.();
