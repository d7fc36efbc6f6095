import type { Logger } from 'pino';
import type { AccountHealth, HealthState } from '../upstream/health.ts';
import type { Metrics } from './metrics.ts';

/**
 * What logs and counts how the health of a service's accounts changes: one line for each change.
 *
 * @param levelOfRefusals level of the line about a refused account; the sandbox has accounts that are meant to be refused
 */
export function reportHealth(
  service: string,
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>,
  { recordOutage }: Pick<Metrics, 'recordOutage'>,
  levelOfRefusals: 'debug' | 'error',
): (health: AccountHealth, before: HealthState, isObstacle: boolean) => void {
  return (health, before, isObstacle) => {
    const { region, account, finding } = health;
    const { state, hasWorked, reason } = finding;
    const ids = { service, region, account, health: state };
    switch (state) {
      case 'well':
        if (before === 'unknown') log.debug(ids, 'the upstream account works');
        else log.info({ ...ids, before }, 'the upstream account works again');
        break;
      case 'refused':
        log[levelOfRefusals](
          { ...ids, reason },
          `the upstream refuses this account, so its id, its secret, its region or the address is wrong${isObstacle ? '; this process does not become ready' : ''}`,
        );
        break;
      case 'outage':
        if (before !== 'outage') recordOutage(service, health);
        log.warn(
          { ...ids, reason },
          hasWorked
            ? 'the upstream is down, as probes have confirmed'
            : 'the upstream has never answered this process: it is down, or its address is wrong',
        );
        break;
      case 'unknown':
        log.warn({ ...ids, before, reason }, 'it is not known any more whether the upstream is down');
    }
  };
}
