import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contenderNamed, OURS_NAME } from './contenders.ts';
import { type CpuProfile, type Shares, sharesOf } from './cpu-profile.ts';
import type { Options } from './options.ts';
import { table } from './table.ts';
import { jobFor, type Testbed } from './testbed.ts';
import { WORKLOADS, workloadNamed } from './workloads.ts';

/** Until V8 has optimised what it will, and then for as long as it takes to see it, in ms. */
const WARM_UP_MS = 7_000;
const PROFILED_MS = 4_000;
/** Between two samples, in µs. */
const INTERVAL = 250;
const ROWS = 25;

/** Where our server spends its CPU time, as text, for each workload that is one kind of request. */
export async function profileOurs(testbed: Testbed, { workloads }: Options): Promise<string> {
  const texts: string[] = [];
  for (const name of workloads.filter((workload) => workload in WORKLOADS)) {
    texts.push(`${name}: ${workloadNamed(name).title}\n\n${describe(await profile(testbed, name))}`);
  }
  return `${texts.join('\n\n')}\n`;
}

async function profile(testbed: Testbed, workload: string): Promise<Shares> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'));
  try {
    const start = performance.now();
    const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL}`];
    const ours = contenderNamed(OURS_NAME);
    // The sources: a build is one file, which says nothing of packages. But it has NODE_ENV in it, and the sources have not.
    const env = { NODE_ENV: 'production' };
    const running = await testbed.start({ ...ours, built: ours.source }, { nodeOptions, env });
    const job = { ...(await jobFor(running, workload)), warmUpMs: 0 };
    await testbed.load({ ...job, ms: WARM_UP_MS });
    const warmMicros = (performance.now() - start) * 1_000;
    await testbed.load({ ...job, ms: PROFILED_MS });
    // Node writes the profile on its way out.
    await running.end();
    const [file = ''] = readdirSync(folder);
    // Sound: this is the format of every .cpuprofile.
    return sharesOf(JSON.parse(readFileSync(join(folder, file), 'utf8')) as CpuProfile, warmMicros);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function describe({ functions, packages }: Shares): string {
  const rows = (shares: Shares['functions']) =>
    shares.slice(0, ROWS).map(([name, share]) => [name, `${(share * 100).toFixed(1)} %`]);
  return [
    table(['self time by package', ''], rows(packages)),
    table(['self time by function', ''], rows(functions)),
  ].join('\n\n');
}
