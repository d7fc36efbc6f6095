import { accessAudits } from './fingerprint-access.ts';
import { errorAudits } from './fingerprint-errors.ts';
import { requestAudits } from './fingerprint-request.ts';
import { responseAudits } from './fingerprint-response.ts';
import type { Audit } from './target.ts';

/** Every rule of the fingerprint document. */
export const fingerprintAudits: readonly Audit[] = [
  ...requestAudits,
  ...responseAudits,
  ...accessAudits,
  ...errorAudits,
];

/** The sections that state rules. 3 and 6 are "not shown"; 9 names the version of the path, which every audit uses. */
export const FINGERPRINT_SECTIONS = [
  '1',
  '2.1',
  '2.2',
  '2.3',
  '2.4',
  '2.5',
  '2.6',
  '2.7',
  '2.8',
  '2.9',
  '2.10',
  '4',
  '5',
  '7',
  '8',
] as const;
