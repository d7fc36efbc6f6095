import type { Logger } from 'pino';
import type { Metrics } from './metrics.ts';

/** What logs and counts that the store of the quotas goes away and is back: one line for each change. */
export function reportQuotaStore(
  log: Pick<Logger, 'info' | 'warn'>,
  { recordQuotaStore }: Pick<Metrics, 'recordQuotaStore'>,
): (state: { readonly isAway: boolean; readonly cause?: string }) => void {
  return (state) => {
    recordQuotaStore(state.isAway);
    if (!state.isAway) return log.info('the store of the quotas is back');
    log.warn({ internal: state.cause }, 'the store of the quotas is away, so each process counts alone');
  };
}
