import { registerHooks } from 'node:module';

/** Loaded before a program (`node --import`): nothing but what `npm ci --omit=dev` installs can be found. */

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier !== 'pino-pretty') return next(specifier, context);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
