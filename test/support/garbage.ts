import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects all garbage, so that what is measured then is in use. */
// Safe: with that flag set, every new context has a global function of this name.
export const collectGarbage = runInNewContext('gc') as () => void;
