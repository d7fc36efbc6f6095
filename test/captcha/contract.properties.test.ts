import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { PASS_DRIFTS, passBody, readResponse } from '../../src/captcha/contract.ts';
import { changedOnce } from '../support/json.ts';
import { PASS } from './support.ts';

test('the fields of a pass that differ from the document are those of its contract', () => {
  const twice = changedOnce(PASS).chain(changedOnce);
  let passes = 0;
  fc.assert(
    fc.property(twice, (json) => {
      const response = readResponse(json);
      if (response.kind !== 'pass') return;
      passes += 1;
      const names = passBody.safeParse(json).error?.issues.map(({ path }) => path.at(-1)) ?? [];
      expect(response.drifts).toEqual(PASS_DRIFTS.filter((field) => names.includes(field)));
    }),
    { numRuns: 1_500 },
  );
  expect(passes).toBeGreaterThan(500);
});
