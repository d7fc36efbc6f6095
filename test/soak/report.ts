import type { Environment } from '../bench/environment.ts';
import { table } from '../bench/table.ts';
import type { Finding } from './findings.ts';

/** The findings as text for a person. */
export function report(environment: Environment, findings: readonly Finding[], seconds: number): string {
  const { date, node, cores, cpu, placement, size, loadBefore } = environment;
  const broken = findings.filter(({ kept }) => !kept).length;
  const head = [
    `Soak (${size}) of ${date}, ${seconds.toFixed(0)} s`,
    `Node ${node}, ${cores} cores, ${cpu}; ${placement}`,
    `Load average before: ${loadBefore.toFixed(2)}`,
  ];
  const rows = findings.map(({ promise, promised, measured, kept }) => [
    promise,
    promised,
    kept ? 'yes' : 'no',
    ` ${measured}`,
  ]);
  const [columns = '', ...lines] = table(['promise', 'promised', 'kept', ' measured'], rows).split('\n');
  const verdict = broken === 0 ? 'Every promise was kept.' : `${broken} of ${findings.length} promises were broken.`;
  return `${head.join('\n')}\n\n${[columns, ...lines].join('\n')}\n\n${verdict}\n`;
}
