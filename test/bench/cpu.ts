import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** What the system knows about a process: nothing is asked of the process itself. */

/** Time of all threads of a process so far, in µs. */
interface CpuTime {
  readonly used: number;
  /** Ready to run while another thread, of this process or of others, had the core. NaN where the system does not say. */
  readonly waited: number;
}

/** Throws if there is no such process. */
export function cpuTimeOf(pid: number): CpuTime {
  if (existsSync(`/proc/${pid}/schedstat`)) {
    // To the nanosecond, but thread by thread. The threads of Node live as long as their process.
    const threads = readdirSync(`/proc/${pid}/task`).map((thread) => schedstatOf(pid, thread));
    return {
      used: threads.reduce((sum, { used }) => sum + used, 0),
      waited: threads.reduce((sum, { waited }) => sum + waited, 0),
    };
  }
  const used = existsSync(`/proc/${pid}/stat`)
    ? statMicros(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    : psMicros(execFileSync('ps', ['-o', 'cputime=', '-p', String(pid)], { encoding: 'utf8' }));
  return { used, waited: Number.NaN };
}

function schedstatOf(pid: number, thread: string): CpuTime {
  const [used = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
  return { used: used / 1_000, waited: waited / 1_000 };
}

/** User and system time in `/proc/<pid>/stat`, whose unit is 10 ms for every program on Linux, in µs. */
export function statMicros(stat: string): number {
  // The name of the program is in brackets and may hold spaces; state is the first field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** `[[days-]hours:]minutes:seconds[.hundredths]`, as `ps` writes it, in µs. */
export function psMicros(cputime: string): number {
  const [days, clock] = cputime.includes('-') ? cputime.split('-') : ['0', cputime];
  const seconds = (clock ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1e6;
}

/** Memory that a process has in RAM now, and the most it ever had where the system keeps that, in MiB. */
export function memoryOf(pid: number): { rss: number; peak: number | undefined } {
  if (!existsSync(`/proc/${pid}/status`)) {
    const rss = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
    return { rss: Number(rss) / 1024, peak: undefined };
  }
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { rss: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}
