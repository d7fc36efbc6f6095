import { openCollector } from '../bench/collector.ts';
import { costOfRequest, leastOf, type RequestCost, type Target } from '../bench/request-cost.ts';
import { ALLOWED, type Row, startWordyUpstream, underName } from '../server/allowed-requests.ts';
import { freePort } from '../support/ports.ts';
import { atMost, type Scenario } from './findings.ts';
import { ROUTER_SECRET } from './secret.ts';

/** What the most expensive requests cost that the limits allow, one at a time. */

const CPU_MS = 250;
const MEMORY_MIB = 32;
/** How long an orchestrator usually waits, in ms. */
const HEALTH_MS = 1_000;

interface Cost extends RequestCost {
  readonly what: string;
}

export const worstRequest: Scenario = async (field) => {
  const port = await freePort();
  const upstream = await startWordyUpstream();
  try {
    const urls = ['EU', 'NA', 'GLB'].map((region) => [`FINGERPRINT_URL_${region}`, upstream.url]);
    const server = await field.serve(Object.fromEntries(urls), [
      `--inspect=127.0.0.1:${port}`,
      '--inspect-publish-uid=http',
    ]);
    const collector = await openCollector(port);
    const costs: Cost[] = [];
    const { pid, url, admin } = server;
    const headers = { 'router-authorization': ROUTER_SECRET };
    const target = { pid, url, headers, healthUrl: `${admin}/healthz`, collector };
    for (const row of ALLOWED) costs.push(...(await costsOf(target, row)));
    await collector.close();
    const most = (key: 'cpuMs' | 'mebibytes' | 'healthMs') => {
      const [worst] = costs.toSorted((one, other) => other[key] - one[key]);
      return [worst?.[key] ?? Number.NaN, worst?.what ?? ''] as const;
    };
    const [cpuMs, costly] = most('cpuMs');
    const [mebibytes, large] = most('mebibytes');
    const [healthMs, slow] = most('healthMs');
    return [
      atMost('worst allowed request: CPU', CPU_MS, cpuMs, ' ms', costly),
      atMost('worst allowed request: memory', MEMORY_MIB, mebibytes, ' MiB', large),
      atMost('worst allowed request: slowest /healthz meanwhile', HEALTH_MS, healthMs, ' ms', slow),
    ];
  } finally {
    await upstream.stop();
  }
};

/** The costs of a document that is new, and of one that was sent often enough to be compiled: the least of several attempts. */
async function costsOf(target: Target, row: Row): Promise<Cost[]> {
  const kinds = { new: ['New1', 'New2'], compiled: ['Same', 'Same', 'Same', 'Same'] };
  const costs: Cost[] = [];
  for (const [kind, names] of Object.entries(kinds)) {
    const attempts: RequestCost[] = [];
    for (const name of names) attempts.push(await costOf(target, row, name));
    // The last attempts of a name are those that use what was compiled.
    costs.push({ what: `${row[0]}, ${kind}`, ...leastOf(kind === 'new' ? attempts : attempts.slice(2)) });
  }
  return costs;
}

async function costOf(target: Target, [what, document, variables]: Row, name: string): Promise<RequestCost> {
  const body = JSON.stringify({ query: underName(name, document), variables });
  const { cost, text } = await costOfRequest(target, body);
  if (text.includes(' costs more than ')) throw new Error(`expected an allowed request, but got a refusal: ${what}`);
  return cost;
}
