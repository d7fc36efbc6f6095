import { test } from 'vitest';
import { type Audit, missingNeeds, type Target } from './target.ts';

/** An audit may send some dozen requests, and a live vendor is far away. */
const TIMEOUT_MS = 60_000;

/** One test an audit. An audit that lacks something is skipped, and its name says what. */
export function register(audits: readonly Audit[], target: Target): void {
  for (const { id, section, name, needs, fn } of audits) {
    const missing = missingNeeds(needs, target);
    const title = `${id} ${section} ${name}`;
    if (missing.length > 0) test.skip(`${title} (not applicable: the target has no ${missing.join(', ')})`);
    else test(title, { timeout: TIMEOUT_MS }, () => fn(target));
  }
}
