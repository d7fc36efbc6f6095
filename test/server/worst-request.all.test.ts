import { afterAll, describe, expect, test } from 'vitest';
import { DEFAULTS, startInLiveMode } from '../support/app.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import { ask } from '../support/requests.ts';
import { ALLOWED, HOSTILE_ROWS, judgementRows, type Row, startWordyUpstream, underName } from './allowed-requests.ts';

/** One allowed request costs at most 250 ms of CPU whatever it asks, and whatever the fingerprint service answers. */

const TRACE = { 'apollo-federation-include-trace': 'ftv1' };
const CPU_MS = 250;
/** The client and the upstream run in this process as well, and a shared core is slower at times. */
const FACTOR = 2;

const SECRET = 'the-secret-of-the-router';
const upstream = await startWordyUpstream();
const app = await startInLiveMode(upstream.url, { sealingKeys: SEALING_KEYS, routerSecrets: [SECRET] });
afterAll(() => Promise.all([app.stop(), upstream.stop()]));

async function cpuOf(document: string, variables: Record<string, unknown>, headers = {}) {
  const before = process.cpuUsage();
  const { status, text } = await ask(app.graphqlUrl, document, variables, {
    'router-authorization': SECRET,
    ...headers,
  });
  const { user, system } = process.cpuUsage(before);
  expect(status).toBe(200);
  expect(text).not.toContain(' costs more than ');
  expect(text).not.toContain('INTERNAL_SERVER_ERROR');
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(DEFAULTS.maxAnswerBytes);
  return (user + system) / 1_000;
}

describe('an allowed request costs little', async () => {
  const rows = [...ALLOWED, ...(await judgementRows()), ...HOSTILE_ROWS];
  const traced = ALLOWED.map(([what, ...asked]): Row => [`a trace of ${what}`, ...asked]);
  test.each<Row>([...rows, ...traced])('%s', async (what, document, variables) => {
    const headers = what.startsWith('a trace') ? TRACE : {};
    const costs: number[] = [];
    // Apollo Server executes what is new, and a document that was sent three times is compiled.
    for (const name of ['New', 'Same', 'Same', 'Same', 'Same']) {
      costs.push(await cpuOf(underName(name, document), variables, headers));
    }
    // The least of two attempts, because the first ones run code that V8 has not optimised yet.
    expect(Math.min(...costs.slice(0, 2))).toBeLessThan(CPU_MS * FACTOR);
    expect(Math.min(...costs.slice(3))).toBeLessThan(CPU_MS * FACTOR);
  });
});
