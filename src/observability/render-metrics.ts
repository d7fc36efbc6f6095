import Negotiator from 'negotiator';
import { Registry, type RegistryContentType } from 'prom-client';

/** The metrics as text, and the media type of that text. */
export interface RenderedMetrics {
  readonly contentType: string;
  readonly text: string;
}

/** The first one serves whoever names no type, such as a person with curl. Only the second one has exemplars. */
const OFFERED = [Registry.PROMETHEUS_CONTENT_TYPE, Registry.OPENMETRICS_CONTENT_TYPE];

/** A parameter of Prometheus 3: how names may be written. All of ours are plain in each of its schemes. */
const ESCAPING = /;\s*escaping=[\w-]+/g;

/**
 * Makes what renders the metrics of a registry, in the format that an `Accept` header prefers: that of Prometheus, or OpenMetrics.
 * Several scrapes at once are rendered one after the other, because the format is a state of the registry.
 *
 * @param update brings the metrics up to date
 */
export function createRenderer(registry: Registry<RegistryContentType>, update: () => void) {
  // prom-client cuts `_total` off the names of counters for OpenMetrics, and leaves them so.
  const names = registry.getMetricsAsArray().map((metric) => ({ metric, name: metric.name }));
  let last: Promise<unknown> = Promise.resolve();

  async function render(format: string | undefined): Promise<RenderedMetrics> {
    update();
    const isOpenMetrics = format === Registry.OPENMETRICS_CONTENT_TYPE;
    registry.setContentType(isOpenMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE);
    try {
      return { contentType: registry.contentType, text: await registry.metrics() };
    } finally {
      for (const { metric, name } of names) metric.name = name;
    }
  }

  return (accept: string | undefined): Promise<RenderedMetrics> => {
    const format = new Negotiator({ headers: { accept: accept?.replaceAll(ESCAPING, '') } }).mediaType(OFFERED);
    const rendered = last.then(() => render(format));
    // Who asks next gets an answer even if this one fails.
    last = rendered.catch(() => {});
    return rendered;
  };
}
