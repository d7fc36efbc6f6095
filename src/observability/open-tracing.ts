import type { Tracing, TracingOptions } from './tracing.ts';

/** Starts to export traces if there is a receiver. The packages that do it are slow to load. */
export async function openTracing({
  otlpEndpoint,
  ...options
}: Omit<TracingOptions, 'otlpEndpoint'> & { readonly otlpEndpoint: string | undefined }): Promise<Tracing | undefined> {
  if (otlpEndpoint === undefined) return undefined;
  const { startTracing } = await import('./tracing.ts');
  return startTracing({ ...options, otlpEndpoint });
}
