import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDocumentedSuccess, successEnvelope } from '../../src/fingerprint/contract.ts';
import { ANDROID, WEB } from '../faults/documented.ts';
import { changedOnce, replacedOnce } from '../support/json.ts';

test('a success is read as its contract says, whatever differs from the document', () => {
  const isDocumented = (json: unknown) => {
    const { data } = successEnvelope.safeParse(json);
    return data !== undefined && data.data.detail.client_type !== 'OTHER';
  };
  for (const documented of [ANDROID, WEB]) {
    expect(isDocumentedSuccess(documented)).toBe(true);
    for (const json of replacedOnce(documented)) expect(isDocumentedSuccess(json)).toBe(isDocumented(json));
  }
  fc.assert(
    fc.property(fc.constantFrom(ANDROID, WEB).chain(changedOnce), (json) => {
      expect(isDocumentedSuccess(json)).toBe(isDocumented(json));
      const { data } = successEnvelope.safeParse(json);
      // Besides the fields that the contract drops, both read the same.
      if (isDocumentedSuccess(json)) expect(json).toMatchObject({ ...data });
    }),
    { numRuns: 1_000 },
  );
});
