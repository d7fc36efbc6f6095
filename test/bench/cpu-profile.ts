import { pathToFileURL } from 'node:url';
import { ROOT } from './children.ts';

/** Reads what Node writes with --cpu-prof. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Node that ran at each sample, and the time since the sample before it in µs. */
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

/** Parts of all CPU time, the largest first; a function with its file and line. */
export interface Shares {
  readonly functions: readonly (readonly [name: string, share: number])[];
  readonly packages: readonly (readonly [name: string, share: number])[];
}

/**
 * Who used the CPU itself, what it called left out. Idle time does not count.
 *
 * @param skipMicros leave out this much of the beginning
 */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile, skipMicros: number): Shares {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const functions = new Map<string, number>();
  const packages = new Map<string, number>();
  let elapsed = 0;
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0;
    elapsed += delta;
    const node = byId.get(id);
    if (elapsed < skipMicros || !node || node.callFrame.functionName === '(idle)') continue;
    total += delta;
    add(functions, nameOf(node), delta);
    add(packages, packageOf(node), delta);
  }
  const ranked = (sums: ReadonlyMap<string, number>) =>
    [...sums].sort(([, a], [, b]) => b - a).map(([name, sum]) => [name, sum / total] as const);
  return { functions: ranked(functions), packages: ranked(packages) };
}

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}

/** The project's folder as it begins the addresses of our files, and that of its packages. */
const OURS = pathToFileURL(ROOT).href;
const PACKAGES = /^.*\/node_modules\//;

function nameOf({ callFrame: { functionName, url, lineNumber } }: ProfileNode): string {
  const name = functionName || '(anonymous)';
  // Lines are counted from 0 there.
  return url ? `${name} ${url.replace(PACKAGES, '').replace(OURS, '')}:${lineNumber + 1}` : name;
}

/** A package, a module of Node, a part of ours, or what V8 does by itself. */
function packageOf({ callFrame: { functionName, url } }: ProfileNode): string {
  if (PACKAGES.test(url)) return /^(@[^/]+\/)?[^/]+/.exec(url.replace(PACKAGES, ''))?.[0] ?? url;
  if (url.startsWith(OURS)) return `ours: ${url.slice(OURS.length).split('/').slice(1).join('/')}`;
  if (url.startsWith('node:')) return url.split('/', 2).join('/');
  if (url.startsWith('wasm:')) return 'WebAssembly';
  return functionName.startsWith('(') ? functionName : 'native';
}
