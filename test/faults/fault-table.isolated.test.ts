import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestApp } from '../support/app.ts';
import { answer, type Hostile, startHostile } from '../support/hostile.ts';
import type { Row } from './fault-table.ts';
import { HTTP_FAULTS } from './http-faults.ts';
import { CAPTCHA_FAULTS, FINGERPRINT_FAULTS } from './json-faults.ts';
import {
  ACCOUNTS,
  askTimed,
  CAPTCHA,
  expectData,
  expectDiscretion,
  expectError,
  FINGERPRINT,
  inRegion,
  pause,
  type Question,
  type Region,
  startAgainst,
  type Timed,
  until,
} from './support.ts';

/** Every way in which an upstream can fail, end to end: the outcome, the calls, and what must hold for each fault. */

/** A row that waits for the deadline gets this one, in ms. */
const SHORT = 500;
/** A row that must not wait gets one that it cannot reach by accident, however busy the machine is. */
const LONG = 30_000;
/** How long an answer may take beyond its deadline, in ms. It is less than the timeout of a connection, so nobody waits for one in vain. */
const SLACK = 1_000;

/** A row as it befalls one of the services. */
interface Case {
  readonly row: Row;
  readonly question: Question;
  readonly deadline: number;
}

/** What the row says about this service: the code of an error, or at least this data; undefined if it cannot befall it. */
const expectedOf = ({ row, question }: Pick<Case, 'row' | 'question'>) =>
  row.expected[question === CAPTCHA ? 'captcha' : 'fingerprint'];

const REGIONS = ['GLB', 'NA', 'EU'] as const;

/** One app serves so many cases, each with an upstream and an account of its own: one for each service in each region. */
function inGroups(rows: readonly Row[]): [number, Case[]][] {
  const groups: [number, Case[]][] = [];
  for (const deadline of [LONG, SHORT]) {
    // A row that times out does so for both services.
    const alike = rows.filter(({ expected }) => (expected.fingerprint === 'UPSTREAM_TIMEOUT') === (deadline === SHORT));
    const [fingerprint = [], captcha = []] = [FINGERPRINT, CAPTCHA].map((question) =>
      alike.map((row): Case => ({ row, question, deadline })).filter(expectedOf),
    );
    for (let at = 0; at < Math.max(fingerprint.length, captcha.length); at += REGIONS.length) {
      const end = at + REGIONS.length;
      groups.push([groups.length + 1, [...fingerprint.slice(at, end), ...captcha.slice(at, end)]]);
    }
  }
  return groups;
}

/** Sockets, servers, timers and look-ups of names that keep this process busy now, counted by kind. */
function heldResources(): Record<string, number> {
  const held: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo())
    if (/^(TCP|TLS|Timeout|GetAddrInfo)/.test(kind)) held[kind] = (held[kind] ?? 0) + 1;
  return held;
}

function expectPunctuality({ elapsed, waited }: Timed, deadline: number): void {
  if (deadline === LONG) expect(elapsed).toBeLessThan(LONG / 2);
  else {
    // Timers are allowed to be a little early.
    expect(elapsed).toBeGreaterThan(SHORT - 20);
    expect(waited).toBeLessThan(SHORT + SLACK);
  }
}

/**
 * Asks once. If the machine kept this process from running until the deadline had passed, that is rightly OVERLOADED, and says
 * nothing about the fault; nor does the first failure of a captcha id, which may be wrongly configured until a probe is
 * answered. Then it asks again, which counts as another call.
 */
async function askUntilItCounts(
  app: TestApp,
  question: Question,
  expected: string,
): Promise<{ answered: Timed; first: Timed; asked: number }> {
  const first = await askTimed(app, question);
  let answered = first;
  let asked = 1;
  const hasToRepeat = () =>
    answered.text.includes('OVERLOADED') ||
    (answered.text.includes('CONFIGURATION') && !expected.includes('CONFIGURATION'));
  for (; asked < 10 && hasToRepeat(); asked += 1) {
    await pause(20);
    answered = await askTimed(app, question);
  }
  return { answered, first, asked };
}

const bystander: Hostile = await startHostile(answer(200, FINGERPRINT.good));
afterAll(bystander.stop);

describe.each(inGroups([...HTTP_FAULTS, ...FINGERPRINT_FAULTS, ...CAPTCHA_FAULTS]))(
  'a fault of an upstream, group %i,',
  (_group, cases) => {
    const regionOf = (one: Case): Region => {
      const index = cases.filter(({ question }) => question === one.question).indexOf(one);
      return REGIONS[index] ?? 'GLB';
    };
    const targets = new Map<Case, Hostile>();
    let app: TestApp;
    let before: Record<string, number>;

    beforeAll(async () => {
      before = heldResources();
      const urls: Record<string, string> = {};
      for (const one of cases) {
        const target = await one.row.start({ good: one.question.good, elsewhere: bystander.url });
        targets.set(one, target);
        urls[`${one.question.field} ${regionOf(one)}`] = target.url;
      }
      const urlOf = (field: Question['field'], region: Region) => urls[`${field} ${region}`] ?? bystander.url;
      // Without a check at the start, an upstream that is dead from then on delays nothing.
      app = await startAgainst(bystander, cases[0]?.deadline ?? LONG, {
        upstreamCheck: 'off',
        fingerprintUrlGLB: urlOf('deviceFingerprint', 'GLB'),
        fingerprintUrlNA: urlOf('deviceFingerprint', 'NA'),
        fingerprintUrlEU: urlOf('deviceFingerprint', 'EU'),
        captchaUrlGLB: urlOf('validateCaptcha', 'GLB'),
        captchaUrlNA: urlOf('validateCaptcha', 'NA'),
        captchaUrlEU: urlOf('validateCaptcha', 'EU'),
      });
    });

    afterAll(async () => {
      await app.stop();
      await Promise.all([...targets.values()].map(({ stop }) => stop()));
      const surplus = () => Object.entries(heldResources()).filter(([kind, count]) => count > (before[kind] ?? 0));
      // Sockets take a moment to close. This waits without a timer of its own while it counts.
      for (const end = performance.now() + 20_000; surplus().length > 0 && performance.now() < end; ) await pause(10);
      expect(surplus()).toEqual([]);
    });

    for (const one of cases) {
      const { row, question, deadline } = one;
      const expected = expectedOf(one) ?? {};
      const outcome =
        typeof expected === 'string' ? expected : 'cause' in expected ? `no verdict, ${expected.cause}` : '';
      test.concurrent(`becomes ${outcome || 'data'} of ${question.field}: ${row.fault}`, async () => {
        const upstream = targets.get(one);
        if (!upstream) throw new Error('expected an upstream for each case');
        const { answered, first, asked } = await askUntilItCounts(app, inRegion(question, regionOf(one)), outcome);
        if (typeof expected === 'string') expectError(answered, expected);
        else expectData(answered, question.field, expected);
        // No object of this process got a property of an answer.
        expect(Object(globalThis).evil).toBeUndefined();
        expectPunctuality(first, deadline);
        const ports = [...targets.values(), bystander].map(({ port }) => port);
        expectDiscretion(answered, app, ports);
        // The client gets a generic message, and the log names the application that was refused.
        if (expected === 'UPSTREAM_REJECTED')
          await until(() => app.logged().includes(ACCOUNTS[regionOf(one)].publicKey));
        if (row.calls === 'at most 1') expect(upstream.requests).toBeLessThanOrEqual(asked);
        else expect(upstream.requests).toBe(row.calls * asked);
        // No second request was begun.
        expect(upstream.spokenTo).toBeLessThanOrEqual(asked);
        // A socket that was kept for the next call would stay open for longer than this.
        if (row.isCutOff) await vi.waitUntil(() => upstream.open === 0, { timeout: 9_000 });
        expect(bystander.connections).toBe(0);
      });
    }
  },
);
