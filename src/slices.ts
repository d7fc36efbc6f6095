import { captchaSlice } from './captcha/slice.ts';
import { fingerprintSlice } from './fingerprint/slice.ts';
import type { Slice } from './slice.ts';

/** Every upstream service. To add one, add it here and to `SliceRows`: `src/README.md` has the recipe. */
export const SLICES = [fingerprintSlice, captchaSlice] as const satisfies readonly Slice[];

/** The variables of all slices in one table. */
export type SliceRows = typeof fingerprintSlice.variables & typeof captchaSlice.variables;
