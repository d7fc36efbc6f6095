import { setTimeout as sleep } from 'node:timers/promises';
import { json, request } from '../support/requests.ts';
import { atLeast, atMost, type Finding, type Scenario } from './findings.ts';
import type { Stream } from './load-job.ts';
import { QUESTIONS, type QuestionName } from './questions.ts';
import { describeOutcomes, isGood, type Sample } from './samples.ts';
import { ROUTER_SECRET } from './secret.ts';
import type { Sizes } from './sizes.ts';
import { type Server, type SoakTestbed, textAt } from './testbed.ts';

/** Three replicas behind a proxy: restarted one by one, asked the same, and one of them killed. */

const RATE = 60;
const CONNECTIONS = 64;
const EXIT_MS = 10_000;
/** Two polls of the proxy and some more. */
const NOTICED_MS = 600;

/** Half of the requests are judgements, the others captchas. */
const mixOf = (url: string, ms: number) => {
  const stream = { url: `${url}/graphql`, ms, connections: CONNECTIONS, rate: RATE };
  return { EU: { ...stream, question: 'EU' }, captcha: { ...stream, question: 'captcha' } } as const satisfies Record<
    string,
    Stream
  >;
};

export const replicas: Scenario = async (testbed, size) => {
  await testbed.behave('fingerprint-EU', { mode: 'good', latencyMs: 50 });
  await testbed.behave('captcha-EU', { mode: 'good', latencyMs: 50 });
  const start = () => testbed.serve({ SHUTDOWN_GRACE_MS: String(size.grace) });
  let servers: readonly Server[] = await Promise.all([start(), start(), start()]);
  const proxy = await testbed.script('test/soak/proxy.ts', ...servers.map(({ origin }) => origin));
  await allReady(proxy);
  await testbed.load(mixOf(proxy, size.warmUp));
  const restarts = await restartAll(testbed, proxy, servers, size);
  servers = restarts.servers;
  return [...restarts.findings, await sameAnswers(proxy), ...(await killOne(testbed, proxy, servers, size))];
};

async function restartAll(testbed: SoakTestbed, proxy: string, before: readonly Server[], size: Sizes) {
  const servers: Server[] = [];
  const exits: string[] = [];
  let slowest = 0;
  const samples: Sample[] = [];
  for (const server of before) {
    const load = testbed.load(mixOf(proxy, size.grace + 2 * NOTICED_MS + size.calm));
    await sleep(NOTICED_MS);
    const askedAt = performance.now();
    void server.end();
    exits.push(String(await server.ended));
    slowest = Math.max(slowest, performance.now() - askedAt);
    const next = await server.again();
    servers.push(next);
    await allReady(proxy);
    const { EU, captcha } = await load;
    samples.push(...EU, ...captcha);
  }
  const failed = samples.filter((sample) => !isGood(sample));
  const bad = exits.filter((code) => code !== '0');
  const findings: Finding[] = [
    atMost(
      'rolling restart: failed requests',
      0,
      failed.length,
      '',
      `of ${samples.length}: ${describeOutcomes(samples)}`,
    ),
    atMost('rolling restart: exits with another code than 0', 0, bad.length, '', exits.join(', ')),
    atMost('rolling restart: slowest exit', EXIT_MS / 1_000, slowest / 1_000, ' s'),
  ];
  return { servers, findings };
}

/** One of each kind of answer: a judgement, a refusal by the service, a verdict, a mistake of the caller. */
const ASKED: readonly QuestionName[] = ['EU', 'rejected', 'captcha', 'wrong'];
const ASK_TIMES = 12;

/** Asks the same question of the proxy until every replica has answered it. */
async function sameAnswers(proxy: string): Promise<Finding> {
  const answers = new Set<string>();
  const by = new Set<string>();
  for (const name of ASKED) {
    for (let times = 0; times < ASK_TIMES; times += 1) {
      const { status, headers, text } = await request(`${proxy}/graphql`, {
        ...json(QUESTIONS[name].body(7), { 'router-authorization': ROUTER_SECRET }),
        signal: AbortSignal.timeout(5_000),
      });
      answers.add(`${name} ${status} ${text}`);
      by.add(`${name} ${headers.get('x-replica')}`);
    }
  }
  const text = `different answers of 3 replicas to ${ASKED.length} questions`;
  const all = atMost(text, ASKED.length, answers.size, '', `${by.size / ASKED.length} replicas answered each`);
  return { ...all, kept: all.kept && by.size === 3 * ASKED.length };
}

async function killOne(
  testbed: SoakTestbed,
  proxy: string,
  servers: readonly Server[],
  size: Sizes,
): Promise<Finding[]> {
  const [victim] = servers;
  if (!victim) throw new Error('there is no replica to kill');
  const load = testbed.load(mixOf(proxy, size.calm + size.afterKill));
  await sleep(size.calm);
  victim.kill();
  const ending = await victim.ended;
  const { EU, captcha } = await load;
  const samples = [...EU, ...captcha];
  const lost = samples.filter((sample) => !isGood(sample));
  const underWay = lost.filter(({ status, note }) => status === 502 && note === '1 under way');
  return [
    atMost(
      'kill -9: failures beyond what the replica had under way',
      0,
      lost.length - underWay.length,
      '',
      `${underWay.length} under way, of ${describeOutcomes(samples)}`,
    ),
    atLeast('kill -9: replicas that go on', 2, await ready(proxy), '', `the other one ended by ${ending}`),
  ];
}

/** How many replicas the proxy sends requests to. */
async function ready(proxy: string): Promise<number> {
  return (await textAt(`${proxy}/replicas`)).replaceAll('0', '').length;
}

async function allReady(proxy: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if ((await ready(proxy)) === 3) return;
    await sleep(50);
  }
  throw new Error('a replica did not become ready within 5 s');
}
