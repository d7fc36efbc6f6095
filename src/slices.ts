import { captchaSlice } from './captcha/slice.ts';
import { fingerprintSlice } from './fingerprint/slice.ts';
import type { Slice } from './slice.ts';

/** Every upstream service. To add one, add its line here: `src/README.md` has the recipe. */
export const SLICES = [fingerprintSlice, captchaSlice] as const satisfies readonly Slice[];

type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The variables of all slices in one table. */
export type SliceRows = Intersection<(typeof SLICES)[number]['variables']>;
