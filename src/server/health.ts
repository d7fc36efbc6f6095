import type { ServerResponse } from 'node:http';
import { sendText } from './response.ts';

/** What the probes of an orchestrator get, on the port of GraphQL and on the admin port. */
export class Health {
  /** The reason why the process is not ready. Undefined once it is. */
  #unready: 'starting' | 'draining' | undefined = 'starting';
  readonly #isUpstreamReady: () => boolean;

  /** @param isUpstreamReady have the upstream accounts let readiness succeed? */
  constructor(isUpstreamReady: () => boolean) {
    this.#isUpstreamReady = isUpstreamReady;
  }

  /** Does readiness succeed? */
  get isReady(): boolean {
    return this.#unready === undefined && this.#isUpstreamReady();
  }

  get isDraining(): boolean {
    return this.#unready === 'draining';
  }

  /** Records that the port of GraphQL accepts requests. */
  startServing(): void {
    this.#unready = undefined;
  }

  /** Fails readiness from now on. */
  startDraining(): void {
    this.#unready = 'draining';
  }

  /**
   * Answers a probe.
   *
   * @returns false, with nothing sent, if this is not the path of one
   */
  answer(path: string | undefined, response: ServerResponse): boolean {
    if (path === '/healthz') sendText(response, 200, 'alive');
    else if (path !== '/readyz') return false;
    else if (this.#unready !== undefined) sendText(response, 503, this.#unready);
    else if (this.#isUpstreamReady()) sendText(response, 200, 'ready');
    else sendText(response, 503, 'checking the upstream accounts; the log has the reason if one does not work');
    return true;
  }
}
