import type { Logger } from 'pino';
import type { HealthState, Metrics, ReportedHealth } from './metrics.ts';

/**
 * What logs and counts how the health of a service's accounts changes: one line for each change, which says whose fault it
 * is and what to do.
 *
 * @param levelOfRefusals level of the line about a refused account; the sandbox has accounts that are meant to be refused
 */
export function reportHealth(
  service: string,
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>,
  { recordOutage }: Pick<Metrics, 'recordOutage'>,
  levelOfRefusals: 'debug' | 'error',
): (health: ReportedHealth, before: HealthState, isObstacle: boolean) => void {
  /** Accounts about which the log has said that something is wrong. */
  const complained = new WeakSet<ReportedHealth>();
  return (health, before, isObstacle) => {
    const { account, finding, probe } = health;
    const { state, hasWorked, reason } = finding;
    const ids = { service, region: probe.region, account, health: state };
    switch (state) {
      case 'well':
        if (complained.delete(health)) log.info({ ...ids, before }, 'The account works again. Nothing has to be done.');
        else log.debug(ids, 'The account works.');
        break;
      case 'refused':
        complained.add(health);
        log[levelOfRefusals]({ ...ids, reason }, isObstacle ? `${REFUSED} ${NOT_READY}` : REFUSED);
        break;
      case 'outage':
        // The probes of one outage can fail in several ways, and a line for each would be a line a second.
        if (before === 'outage') break;
        complained.add(health);
        recordOutage(health);
        log.warn({ ...ids, reason }, hasWorked ? DOWN : NEVER_ANSWERED);
        break;
      case 'unknown':
        complained.add(health);
        log.warn({ ...ids, before, reason }, UNKNOWN);
    }
  };
}

const REFUSED =
  'The service refuses this account, which is our mistake or a change at the service: the id, the secret, the region or the address is wrong, or the account is disabled there. Correct the configuration, or ask the operator of the service. It is checked again every 10 s.';
const DOWN =
  'The service is down for this account, as our own probes have confirmed. This is the fault of the service: call its operator. It is checked again every second.';
const NEVER_ANSWERED =
  'The service has never answered this process for this account: either its address in our configuration is wrong, or the service is down. Check the address first, and then call the operator of the service. It is checked again every second.';
const UNKNOWN =
  'Our probes cannot find out whether the service works for this account, because of a limit or of this machine. The reason says which. It is checked again every second.';
const NOT_READY = 'Until then this process does not become ready, and a rollout stops here.';
