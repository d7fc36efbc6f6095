import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { queryForTokens } from '../support/graphql.ts';
import { freePort } from '../support/ports.ts';
import { startCommand } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import { send, startSandboxed } from './support.ts';

/** A real Prometheus reads the metrics. */

/** Starts one that scrapes the app every second, and returns what asks its API. */
async function startPrometheus({ metricsUrl }: TestApp) {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-prometheus-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'prometheus.yaml');
  const targets = [new URL(metricsUrl).host];
  const job = { job_name: 'device-trust', scrape_interval: '1s', static_configs: [{ targets }] };
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ scrape_configs: [job] }));
  const port = await freePort();
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = startCommand([programOf('prometheus'), ...options], { cwd: folder });
  onTestFinished(child.stop);
  return async (path: string, query: string) => {
    const now = Date.now() / 1_000;
    const words = new URLSearchParams({ query, start: `${now - 60}`, end: `${now + 60}` });
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${words}`).catch(() => undefined);
    return response?.ok ? (await response.json()).data : undefined;
  };
}

test('Prometheus scrapes all metrics', async () => {
  const app = await startSandboxed();
  await send(app, { query: queryForTokens(['sandbox:web']) });
  const ask = await startPrometheus(app);
  const soon = { timeout: 20_000, interval: 200 };
  await expect
    .poll(() => ask('query', 'up{job="device-trust"}'), soon)
    .toMatchObject({
      result: [{ value: [expect.any(Number), '1'] }],
    });
  const bucket = 'device_trust_operation_duration_seconds_bucket';
  // The values of `le` that the rules about latency select.
  const underTwo = await ask('query', `sum(${bucket}{le=~"2|2.0"})`);
  expect(underTwo).toMatchObject({ result: [{ value: [expect.any(Number), '1'] }] });
  expect((await ask('query', 'device_trust_build_info')).result).toHaveLength(1);
  expect((await ask('query', 'device_trust_fingerprint_calls_total')).result).toHaveLength(1);
});
