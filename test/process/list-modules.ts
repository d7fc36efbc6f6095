import { registerHooks } from 'node:module';

/** Loaded before a program (`node --import`): writes on stderr, when it ends, the address of every module that it loaded. */

const loaded: string[] = [];
registerHooks({
  load: (url, context, next) => {
    loaded.push(url);
    return next(url, context);
  },
});
process.on('exit', () => {
  process.stderr.write(loaded.map((url) => `${url}\n`).join(''));
});
