import { type Variable, whole } from './values.ts';

/** The rows of `VARIABLES` that say how much a process does at once. */
export const PROCESS_LIMITS = {
  maxConnections: {
    name: 'MAX_CONNECTIONS',
    description: 'Open connections of callers; near it, those that brought no operation are closed first',
    ...whole(1, 100_000),
    default: '4096',
  },
  maxConnectionAgeMs: {
    name: 'MAX_CONNECTION_AGE_MS',
    description:
      'Age of a connection of a caller, in ms, from which on an answer closes it, up to a fifth earlier or later; 0 for none',
    ...whole(0, 86_400_000),
    default: '300000',
  },
  upstreamMaxInFlight: {
    name: 'UPSTREAM_MAX_IN_FLIGHT',
    description: 'Calls under way to one service in one region',
    ...whole(1, 10_000),
    default: '512',
  },
  upstreamMaxQueue: {
    name: 'UPSTREAM_MAX_QUEUE',
    description: 'Calls that wait for one of those to end; the next one fails at once',
    ...whole(0, 10_000),
    default: '512',
  },
  maxEventLoopDelayMs: {
    name: 'MAX_EVENT_LOOP_DELAY_MS',
    description: 'How late the event loop may run, in ms, before requests get a 503',
    ...whole(10, 10_000),
    default: '200',
  },
} as const satisfies Record<string, Variable>;
