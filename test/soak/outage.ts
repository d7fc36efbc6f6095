import { setTimeout as sleep } from 'node:timers/promises';
import { adds, atLeast, atMost, type Finding, type Scenario, shown } from './findings.ts';
import { publicKeyOf } from './questions.ts';
import { describeOutcomes, dueWithin, goodPart, isGood, p99, type Sample } from './samples.ts';
import type { Behaviour, Calls } from './upstream-commands.ts';

/** One region resets its connections and another one hangs, while a third and the other service are well. */

const RATE = 100;
const CONNECTIONS = 128;
const WELL: Behaviour = { mode: 'good', latencyMs: 20 };
/** From the beginning of the outage until it has to be confirmed and no call is sent, in ms. */
const NOTICE_MS = 2_000;
/** From the first good probe until almost all succeed again, in ms. */
const RECOVER_MS = 1_000;

const FAILING = [
  { region: 'EU', endpoint: 'fingerprint-EU', mode: 'reset' },
  { region: 'NA', endpoint: 'fingerprint-NA', mode: 'hang' },
] as const;

export const outage: Scenario = async (field, size) => {
  const server = await field.serve({ FINGERPRINT_TIMEOUT_MS: '500' });
  const stream = { url: server.url, connections: CONNECTIONS, rate: RATE };
  const ms = size.warmUp + size.calm + size.outage + size.recovery;
  const load = field.load({
    EU: { ...stream, question: 'EU', ms },
    NA: { ...stream, question: 'NA', ms },
    GLB: { ...stream, question: 'GLB', ms, rate: RATE / 2 },
    captcha: { ...stream, question: 'captcha', ms, rate: RATE / 2 },
    bare: field.bare(ms),
  });
  await sleep(size.warmUp + size.calm);
  const from: number[] = [];
  for (const { endpoint, mode } of FAILING) from.push(await field.behave(endpoint, { ...WELL, mode }));
  await sleep(NOTICE_MS);
  const metrics = await server.metrics();
  const confirmed = FAILING.map(({ region }) => metrics.get(outageMetric(region)) ?? Number.NaN);
  await sleep(size.outage - NOTICE_MS);
  const to: number[] = [];
  for (const { endpoint } of FAILING) to.push(await field.behave(endpoint, WELL));
  const seen = await load;

  const findings: Finding[] = [];
  for (const [at, { region, endpoint, mode }] of FAILING.entries()) {
    const calls = await field.calls(endpoint);
    const span = { start: (from[at] ?? Number.NaN) + NOTICE_MS, end: to[at] ?? Number.NaN };
    findings.push(
      atLeast(`outage (${mode}): confirmed after 2 s`, 1, confirmed[at] ?? Number.NaN),
      ...failing(mode, seen, region, calls, span),
      ...recovering(mode, seen[region], calls, span.end, span.end + size.recovery),
    );
  }
  const start = Math.min(...from);
  for (const name of ['GLB', 'captcha'] as const) {
    const before = p99(dueWithin(seen[name], start - size.calm, size.calm));
    const during = dueWithin(seen[name], start, size.outage);
    const bare = [start - size.calm, start].map((from, at) =>
      p99(dueWithin(seen.bare, from, at ? size.outage : size.calm)),
    );
    const who = name === 'GLB' ? 'another region' : 'the other service';
    findings.push(
      atLeast(`outage: ${who} answers`, 99, goodPart(during) * 100, ' %', describeOutcomes(during)),
      atMost(
        `outage: ${who}, p99 to before`,
        2,
        p99(during) / before,
        '×',
        `${shown(before)} ms before; a bare server ${bare.map(shown).join(' and ')} ms`,
      ),
    );
  }
  return findings;
};

const outageMetric = (region: string) =>
  `device_trust_upstream_health{service="fingerprint",region="${region}",account="${publicKeyOf(region)}",state="outage"}`;

interface Span {
  readonly start: number;
  readonly end: number;
}

/** What callers see while it lasts, and what reaches the upstream, by the upstream's own account. */
function failing(
  mode: string,
  seen: Readonly<Record<'EU' | 'NA' | 'bare', readonly Sample[]>>,
  region: 'EU' | 'NA',
  calls: Calls,
  { start, end }: Span,
): Finding[] {
  const asked = dueWithin(seen[region], start, end - start);
  const bare = p99(dueWithin(seen.bare, start, end - start));
  const seconds = Math.ceil((end - start) / 1_000);
  const isWithin = (at: number) => at >= start && at < end;
  const sent = calls.calls.filter(([at]) => isWithin(at)).length;
  const probes = calls.probes.filter(isWithin).length;
  return [
    adds(`outage (${mode}): p99 of a failure beyond a bare server’s`, 50, p99(asked), bare, describeOutcomes(asked)),
    atMost(`outage (${mode}): calls that reach the upstream`, 0, sent),
    atMost(`outage (${mode}): probes that reach the upstream`, seconds, probes, '', `one a second in ${seconds} s`),
  ];
}

/** How soon it is over once the upstream is back. */
function recovering(mode: string, samples: readonly Sample[], calls: Calls, back: number, end: number): Finding[] {
  const probe = calls.probes.find((at) => at >= back) ?? Number.NaN;
  const later = dueWithin(samples, probe + RECOVER_MS, end - probe - RECOVER_MS);
  const failed = dueWithin(samples, back, end - back).filter((sample) => !isGood(sample));
  const last =
    failed.length > 0
      ? `last failure due ${shown(Math.max(...failed.map(({ at }) => at)) - probe)} ms after it`
      : 'no failure';
  return [
    atLeast(
      `outage (${mode}): success from 1 s after the first good probe`,
      99,
      goodPart(later) * 100,
      ' %',
      `probe after ${shown(probe - back)} ms, ${last}`,
    ),
  ];
}
