import { DeviceTrustError } from '../errors.ts';

/** The call was not sent, because the service is down. */
export class OutageError extends DeviceTrustError {
  constructor() {
    super('UPSTREAM_UNAVAILABLE', { internal: 'the service is down, as probes have confirmed' });
    this.name = 'OutageError';
  }
}
