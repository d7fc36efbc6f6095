/** What a load needs, by arithmetic alone. The operator's page, the autoscaler and the measurement share it. */

/** What comes, and how the upstream answers it. */
export interface Load {
  /** Requests a second, over all replicas. */
  readonly requestsPerSecond: number;
  /** How long an upstream call takes, in ms. */
  readonly latencyMs: number;
  /** Upstream calls to one service in one region that a request makes. */
  readonly callsPerRequest: number;
}

/** What a replica does at most, and how much of that is planned with. */
export interface Replica {
  /** CPU time that a request adds to a replica that is busy, in µs. */
  readonly cpuMicros: number;
  /**
   * Part of a core that a busy replica needs besides, at any rate. At a low rate it wakes up for each event, and at a high one
   * for several together, so a request costs less there.
   */
  readonly cpuBase: number;
  /** `UPSTREAM_MAX_IN_FLIGHT` */
  readonly maxInFlight: number;
  /** Part of `maxInFlight` that is planned with. */
  readonly inFlightShare: number;
  /** Part of one core that is planned with. */
  readonly cpuShare: number;
  /** Length of the log line of a request, in bytes. */
  readonly logBytes: number;
  /** `LOG_SAMPLE`: part of the requests that write a line. */
  readonly logSample: number;
  /** Replicas that there are at any load, so that restarts are safe. */
  readonly minReplicas: number;
}

/** What that comes to. */
export interface Capacity {
  /** Upstream calls under way, over all replicas (Little's law). */
  readonly callsInFlight: number;
  readonly replicas: number;
  /**
   * The most sockets to the upstream, over all replicas: HTTP/1.1 needs one for each call, a burst may reach the limit of each
   * replica, and idle sockets stay open.
   */
  readonly sockets: number;
  /** Cores that are busy. */
  readonly cores: number;
  readonly logBytesPerDay: number;
  /** Upstream calls in a day; each is an event and may be billed. */
  readonly eventsPerDay: number;
}

const SECONDS_OF_A_DAY = 86_400;

/**
 * What a replica is planned with, unless you know better. `npm run capacity` has measured the CPU time and the length of the
 * line; the deployment and the autoscaler have the rest.
 */
export const PLANNED: Replica = {
  cpuMicros: 265,
  cpuBase: 0.26,
  maxInFlight: 512,
  inFlightShare: 0.55,
  cpuShare: 0.7,
  logBytes: 250,
  logSample: 1,
  minReplicas: 3,
};

/** What a load needs. The load has to be above 0. */
export function capacityFor({ requestsPerSecond, latencyMs, callsPerRequest }: Load, replica: Replica): Capacity {
  const callsPerSecond = requestsPerSecond * callsPerRequest;
  const callsInFlight = (callsPerSecond * latencyMs) / 1_000;
  const byCalls = callsInFlight / (replica.maxInFlight * replica.inFlightShare);
  const byCpu = coresFor(requestsPerSecond, 0, replica) / (replica.cpuShare - replica.cpuBase);
  const replicas = Math.max(replica.minReplicas, Math.ceil(byCalls), Math.ceil(byCpu));
  return {
    callsInFlight,
    replicas,
    sockets: replicas * replica.maxInFlight,
    cores: coresFor(requestsPerSecond, replicas, replica),
    logBytesPerDay: requestsPerSecond * replica.logSample * replica.logBytes * SECONDS_OF_A_DAY,
    eventsPerDay: callsPerSecond * SECONDS_OF_A_DAY,
  };
}

/** Cores that are busy when so many replicas share so many requests a second. */
export function coresFor(requestsPerSecond: number, replicas: number, { cpuMicros, cpuBase }: Replica): number {
  return replicas * cpuBase + (requestsPerSecond * cpuMicros) / 1e6;
}

/** What ends the growth of a number of replicas: the calls under way, or the CPU. */
export interface Most {
  /** Requests a second from which on calls wait in the queue and are then refused. */
  readonly byCalls: number;
  /** Requests a second that keep every core busy. */
  readonly byCpu: number;
}

/** The most requests a second that so many replicas can answer, whole and not only the part that is planned with. */
export function mostOf(
  replicas: number,
  { latencyMs, callsPerRequest }: Omit<Load, 'requestsPerSecond'>,
  replica: Replica,
): Most {
  return {
    byCalls: (replicas * replica.maxInFlight * 1_000) / (latencyMs * callsPerRequest),
    byCpu: (replicas * (1 - replica.cpuBase) * 1e6) / replica.cpuMicros,
  };
}
