import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/process.ts';
import type { Contender } from './contenders.ts';
import { costOf } from './load.ts';
import { start } from './processes.ts';
import type { Workload } from './requests.ts';

const ROWS = 30;

/** Where a server spends its CPU time under load for `ms`, what a function calls left out, as text. Its start is part of it. */
export async function profile(server: Contender, workload: Workload, ms: number, core: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'bench-profile-'));
  const running = await start(['--cpu-prof', `--cpu-prof-dir=${folder}`, server.script], server.env, core);
  await costOf(running, workload, 0, ms);
  // Node writes the profile on its way out.
  await running.end();
  const file = join(folder, readdirSync(folder)[0] ?? '');
  const { nodes }: Profiler.Profile = JSON.parse(readFileSync(file, 'utf8'));
  return `${workload.title}, all of it in ${file}\n${selfTimes(nodes).join('\n')}\n\n`;
}

/** The functions that most samples found running, and their parts of all. Idle time does not count. */
function selfTimes(nodes: Profiler.ProfileNode[]): string[] {
  const hits = new Map<string, number>();
  let total = 0;
  for (const { hitCount = 0, callFrame } of nodes) {
    if (callFrame.functionName === '(idle)') continue;
    const file = callFrame.url.replace(pathToFileURL(ROOT).href, '').replace('node_modules/', '');
    // Lines are counted from 0 there.
    const name = `${callFrame.functionName || '(anonymous)'} ${file && `${file}:${callFrame.lineNumber + 1}`}`;
    hits.set(name, (hits.get(name) ?? 0) + hitCount);
    total += hitCount;
  }
  const most = [...hits].sort(([, one], [, other]) => other - one).slice(0, ROWS);
  return most.map(([name, count]) => `${((count / total) * 100).toFixed(1).padStart(5)} %  ${name}`);
}
