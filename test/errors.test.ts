import { expect, test } from 'vitest';
import { DeviceTrustError } from '../src/errors.ts';

// Frames cost more than everything else about a rejected reference, and a request can have a thousand of them.
test('an error of the catalogue has no stack frames, and takes none from errors that are made after it', () => {
  expect(new DeviceTrustError('DEVICE_TOKEN_REJECTED').stack).not.toContain('\n    at ');
  expect(new Error('of anyone').stack).toContain('\n    at ');
});
