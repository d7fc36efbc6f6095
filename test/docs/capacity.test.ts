import { describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/variables.ts';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import { capacityFor, mostOf, PLANNED } from '../capacity/capacity.ts';
import { agrees, bytesShown, cellsOf, countShown, LATENCIES, RATES, shown } from '../capacity/report.ts';
import { manifestOf } from '../deploy/manifests.ts';
import { METRICS } from '../deploy/metrics.ts';
import { codeIn, readPage } from './markdown.ts';

/** The figures of the operator's page about capacity are those of the function. */

const page = readPage('deploy/README.md');
const numberIn = (cell = '') => Number(cell.replaceAll(',', ''));

describe('the table by rate and latency', () => {
  const HEADER = ['requests a second', 'upstream, ms', 'calls in flight', 'replicas', 'sockets at most'];
  const rows = page.rowsOf(...HEADER, 'cores', 'log a day', 'events a day');

  test('has each rate with each latency', () => {
    const expected = RATES.flatMap((rate) => LATENCIES.map((ms) => [rate, ms]));
    expect(rows.map(([rate, ms]) => [numberIn(rate), numberIn(ms)])).toEqual(expected);
  });

  test.each(rows)('%s requests a second, %s ms', (rate, latency, ...cells) => {
    const load = { requestsPerSecond: numberIn(rate), latencyMs: numberIn(latency), callsPerRequest: 1 };
    expect(cells).toEqual(cellsOf(capacityFor(load, PLANNED)));
  });

  test('the text has the values that it is planned with', () => {
    const percent = (share: number) => `${Math.round(share * 100)} %`;
    expect(Number(VARIABLES.upstreamMaxInFlight.default)).toBe(PLANNED.maxInFlight);
    for (const value of [
      `${percent(PLANNED.inFlightShare)} of \`UPSTREAM_MAX_IN_FLIGHT\``,
      `${percent(PLANNED.cpuShare)} of one core`,
      `${PLANNED.cpuMicros} µs`,
      `${PLANNED.cpuBase} of a core`,
      `${PLANNED.logBytes} bytes`,
      `at least ${PLANNED.minReplicas} replicas`,
    ])
      expect(page.text.replaceAll('\n', ' ')).toContain(value);
  });
});

describe('what was measured', () => {
  const rows = page.rowsOf('upstream, ms', 'value', 'function', 'measured');

  test('is at three latencies, five values each', () => {
    expect(new Set(rows.map(([latency]) => latency)).size).toBe(3);
    expect(rows).toHaveLength(15);
  });

  test.each(rows)('%s ms, %s: within 15 %', (_latency, _value, computed, measured) => {
    expect(agrees({ what: '', computed: numberIn(computed), measured: numberIn(measured) })).toBe(true);
  });
});

describe('what breaks first', () => {
  const rows = page.rowsOf('from', 'what breaks', 'at 16,667 a second', 'what shows it', 'what to do');
  const load = { latencyMs: 300, callsPerRequest: 1 };
  const { minReplicas, maxReplicas } = manifestOf('HorizontalPodAutoscaler')['spec'];
  const needed = capacityFor({ ...load, requestsPerSecond: 16_667 }, PLANNED);

  test('is in the order in which it breaks, at the rates of the function', () => {
    const from = rows.map(([cell]) => numberIn(cell)).filter((rate) => !Number.isNaN(rate));
    expect(from).toEqual([...from].sort((a, b) => a - b));
    const most = mostOf(maxReplicas, load, PLANNED);
    expect(from.map(shown)).toEqual(
      // The ports of the two kinds of NAT are held for as long as a call takes.
      [
        64 / 0.3,
        mostOf(minReplicas, load, PLANNED).byCalls,
        10_000,
        most.byCalls * PLANNED.inFlightShare,
        most.byCalls,
        most.byCpu,
        55_000 / 0.3,
      ].map(shown),
    );
  });

  test('the figures at a million logins a minute are those of the function', () => {
    const text = rows.map(([, , cell]) => cell).join('\n');
    for (const value of [
      `${shown(needed.callsInFlight)} calls in flight`,
      `${needed.replicas} replicas`,
      `${shown(needed.sockets)} sockets`,
      `${shown(needed.cores)} cores`,
      `${bytesShown(needed.logBytesPerDay)} a day`,
      `${countShown(needed.eventsPerDay)} events a day`,
      // Two names, which are looked up every 20 s.
      `${shown((needed.replicas * 2) / 20)} look-ups a second`,
    ])
      expect(text).toContain(value);
  });

  test('each metric, alert and variable exists', () => {
    const alerts = readPage('deploy/runbook.md')
      .rowsOf('alert', 'severity', 'side')
      .flatMap(([alert = '']) => codeIn(alert));
    const variables = [...Object.values(VARIABLES).map(({ name }) => name), ...Object.keys(ERROR_CATALOGUE)];
    const names = rows.flatMap((row) => codeIn(row.join(' ')));
    for (const name of names.filter((one) => one.startsWith('device_trust_')))
      expect(Object.keys(METRICS)).toContain(name);
    for (const name of names.filter((one) => one.startsWith('DeviceTrust'))) expect(alerts).toContain(name);
    for (const name of names.filter((one) => /^[A-Z_]{5,}$/.test(one))) expect(variables).toContain(name);
    expect(names.length).toBeGreaterThan(15);
  });
});
