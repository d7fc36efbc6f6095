import { registerHooks } from 'node:module';

/**
 * Loaded before each program of ours. A machine that is busy with tests makes it late for no fault of its own, and what is refused
 * for that (503) leaves no log line. So its event loop may be late by 10 s.
 */
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    if (url.includes('/node_modules/') || !(loaded.source instanceof Uint8Array)) return loaded;
    const source = Buffer.from(loaded.source).toString();
    const patient = source.replace(/\b(MAX_DELAY_MS(?:\$\d+)?) = 200\b/, '$1 = 10_000');
    if (/\/event-loop\.ts$|\/server\/main\.js$/.test(url) && patient === source)
      throw new Error(`expected MAX_DELAY_MS of 200 in ${url}, but found none`);
    return { ...loaded, source: patient };
  },
});
