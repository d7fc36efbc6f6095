import type { ServerResponse } from 'node:http';
import { sendText } from './http.ts';

/** What the probes of an orchestrator get, on the port of GraphQL and on the admin port. */
export class Health {
  /** Why the process is not ready, whatever its upstreams are. */
  unready: 'starting' | 'draining' | undefined = 'starting';
  readonly #isUpstreamReady: () => boolean;

  /** @param isUpstreamReady have the upstream accounts let readiness succeed? */
  constructor(isUpstreamReady: () => boolean) {
    this.#isUpstreamReady = isUpstreamReady;
  }

  /** Does readiness succeed? */
  get isReady(): boolean {
    return this.unready === undefined && this.#isUpstreamReady();
  }

  /**
   * Answers a probe.
   *
   * @returns false, with nothing sent, if this is not the path of one
   */
  answer(path: string | undefined, response: ServerResponse): boolean {
    if (path === '/healthz') sendText(response, 200, 'alive');
    else if (path !== '/readyz') return false;
    else if (this.isReady) sendText(response, 200, 'ready');
    else sendText(response, 503, this.unready ?? UPSTREAM_UNREADY);
    return true;
  }
}

const UPSTREAM_UNREADY = 'checking the upstream accounts; the log has the reason if one does not work';
