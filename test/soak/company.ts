import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Redis } from 'ioredis';
import { generateKey } from '../../src/captcha/attestation.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { startRelay, startReplicas } from '../routers/replicas.ts';
import { PATIENT, ROOT } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { checkOutLastRelease, patienceOf } from '../upgrade/last-release.ts';
import { solved } from './attacks.ts';
import { epochMs, ROUTER_SECRET, type Server, startScript, startServer, startUpstream } from './processes.ts';
import type { RouterReport } from './router.ts';
import { atMost, type Finding, isLost, none, startLoad } from './scenarios.ts';

/** A company's graph under load: a router, two replicas with a quota store that fails over, and an upgrade from the last release. */

/** Half of what is answered in the second half of this time, in ms, is the load, up to this rate. */
const [CALIBRATION_MS, MOST_RATE] = [6_000, 300];
/** As parts of the whole: when the upgrade and the failover begin, and from when on memory is measured, if that is a minute. */
const [UPGRADE_AT, MEASURED_FROM, FAILOVER_AT] = [0.05, 0.5, 0.75];
const [MEASURED_S, MEASUREMENTS, MAX_GROWTH_MIB] = [60, 40, 2];
/** How long nobody notices that the primary is dead, and how soon after the promotion the replicas count again, in ms. */
const [UNNOTICED_MS, COUNTS_MS] = [1_000, 3_000];
/** A count may not have reached the standby, or its refusal the log, for as long as this, in ms. */
const LATE_MS = 100;
/** `SHUTDOWN_GRACE_MS` and 7 s: nothing may take longer to end (schema/README.md). */
const EXIT_S = 9;
const PER_DAY = 100_000_000;
/** Calls that are left to an application before more are tried. Each application is used for one such attempt. */
const [LEFT, TRIED] = [40, 160];
const APPLICATIONS = ['pk_soak', 'pk_upgraded', 'pk_after'] as const;
const keyOf = (account: string) => `device-trust:fingerprint:day:${account}`;
const ISSUER = 'https://device-trust.test';
const JUDGED = 'judgedAt clientType device { id } signals { code level }';
const DIRECT = { 'router-authorization': ROUTER_SECRET, 'x-user-id': 'user-1', 'x-user-scopes': 'risk:read' };

/** A primary and its standby behind one address, which leads nowhere while the store fails over. */
async function startStore() {
  const stores = [await startRedis(), await startRedis()] as const;
  const [primary, standby] = stores;
  process.once('exit', () => void stores.map(({ kill }) => kill()));
  const { port, password } = new URL(primary.url);
  let target: string | undefined = port;
  const relay = await startRelay(() => (target ? Number(target) : undefined));
  const url = primary.url.replace(port, `${relay.port}`);
  const [client, second] = [new Redis(url), new Redis(standby.url)];
  for (const one of [client, second]) one.on('error', () => {});
  await second.config('SET', 'masterauth', password);
  await second.replicaof('127.0.0.1', Number(port));
  return {
    url,
    client,
    failOver: async () => {
      await primary.kill();
      target = undefined;
      await sleep(UNNOTICED_MS);
      await second.replicaof('NO', 'ONE');
      target = new URL(standby.url).port;
    },
    stop: async () => {
      relay.stop();
      for (const one of [client, second]) one.disconnect();
      await Promise.all(stores.map(({ stop }) => stop()));
    },
  };
}

/** Takes somewhat more than these seconds. Throws if Redis or the last release is not to be had. */
export async function company(seconds: number): Promise<Finding[]> {
  const store = await startStore();
  const last = await checkOutLastRelease();
  process.once('exit', () => rmSync(last.folder, { recursive: true }));
  const { addresses, arrivals } = await startUpstream();
  const sealingKeys = [newSealingKey()];
  const env = {
    FINGERPRINT_APPLICATIONS: JSON.stringify(APPLICATIONS.map((id) => ({ publicKey: id, secret: 'sk', region: 'EU' }))),
    TRUSTED_HEADERS: '{"subject":"x-user-id","scopes":"x-user-scopes"}',
    ATTESTATION: `{"issuer":"${ISSUER}","audiences":[{"id":"orders","actions":["placeOrder"],"subject":"required"}]}`,
    ATTESTATION_KEYS: JSON.stringify([generateKey('active')]),
    SEALING_KEYS: JSON.stringify(sealingKeys),
    FINGERPRINT_QUOTA: `{"perDay":${PER_DAY}}`,
    CAPTCHA_QUOTA: `{"perDay":${PER_DAY}}`,
    QUOTA_STORE_URL: store.url,
  };
  const servers: Server[] = [];
  const stopped = new Set<Server>();
  const running = () => servers.filter((server) => !stopped.has(server));
  const exits: string[] = [];
  const start = async (more: object, main?: string) => {
    const server = await startServer(addresses, { ...env, ...more }, main);
    servers.push(server);
    const stop = async () => {
      const from = performance.now();
      stopped.add(server);
      const code = await server.end();
      exits.push(performance.now() - from > EXIT_S * 1_000 ? `${code} too late` : code);
    };
    return { url: server.origin, stop };
  };
  const startLast = () => start(patienceOf(last.folder), `${last.folder}/src/main.ts`);
  const startThis = () => start({ ...PATIENT, NODE_OPTIONS: `--import=${ROOT}/test/soak/heap.ts` });
  const replicas = await startReplicas(2, startLast);
  // Safe: this is what that script answers.
  const router = (await startScript('router.ts', process.env).ask({ ours: replicas.url, sealingKeys })) as RouterReport;
  const visitors = { who: 'company', url: router.url, headers: router.headers } as const;
  const full = await startLoad({ ...visitors, ms: CALIBRATION_MS });
  const warm = full.filter(({ at }) => at > (full[0]?.at ?? 0) + CALIBRATION_MS / 2);
  const rate = Math.min(MOST_RATE, (warm.length / CALIBRATION_MS) * 1_000);
  const [begin, ms] = [epochMs(), seconds * 1_000];
  const load = startLoad({ ...visitors, rate, ms });
  const until = (part: number) => sleep(Math.max(0, begin + part * ms - epochMs()));

  const tried: { readonly account: string; readonly allowed: number }[] = [];
  /** Tries more calls than are left to an application, in turns at both replicas. */
  const exhaust = async (account: (typeof APPLICATIONS)[number]) => {
    const [from, both] = [epochMs(), running()];
    const spend = async (at: number) => {
      await sleep(at * 10);
      const query = `{ deviceFingerprint(token: "${at}", publicKey: "${account}") { __typename } }`;
      await ask(`${both[at % 2]?.origin}/graphql`, query, {}, DIRECT);
    };
    await store.client.set(keyOf(account), PER_DAY - LEFT, 'EX', 86_400);
    await Promise.all(times(TRIED, spend));
    // While the store is away, each replica has the whole quota (deploy/README.md).
    const wasAway = absences(both).some(([, back]) => back > from);
    tried.push({ account, allowed: wasAway ? LEFT + TRIED : LEFT });
  };

  await until(UPGRADE_AT);
  const attest = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
  const judge = `{ deviceFingerprint(token: "kept") { ... on DeviceFingerprint { judgement { sealed ${JUDGED} } } } }`;
  const input = { ...solved('kept'), audience: 'orders', action: 'placeOrder' };
  const { attestation } = (await ask(router.url, attest, { input }, router.headers)).data.validateCaptcha;
  const { sealed, ...judged } = (await ask(router.url, judge, {}, router.headers)).data.deviceFingerprint.judgement;
  await replicas.replace(0, startThis);
  await replicas.replace(1, startThis);
  // Back and forth.
  await replicas.replace(0, startLast);
  await replicas.replace(0, startThis);
  await exhaust('pk_upgraded');
  const refused: unknown[] = [];
  const { createVerifier } = await import(`${last.folder}/test/supergraph/orders/attestation.ts`);
  for (const { origin } of running()) {
    const jwksUrl = `${origin}/.well-known/jwks.json`;
    const verify = createVerifier({ jwksUrl, issuer: ISSUER, audience: 'orders', subject: 'required' });
    await verify(attestation, 'placeOrder', 'user-1').catch((error: unknown) => refused.push(error));
    const open = `query ($of: [_Any!]!) { _entities(representations: $of) { ... on DeviceJudgement { ${JUDGED} } } }`;
    const { data } = await ask(`${origin}/graphql`, open, { of: [{ __typename: 'DeviceJudgement', sealed }] }, DIRECT);
    if (!isDeepStrictEqual(data?._entities, [judged])) refused.push(data);
  }

  await until(MEASURED_FROM);
  const [memories, window]: [number[][], number] = [[], ms * (1 - MEASURED_FROM)];
  let isOver = false;
  const measured = (async () => {
    for (; !isOver; await sleep(window / MEASUREMENTS))
      memories.push(await Promise.all(running().map(({ memory }) => memory())));
  })();
  await until(FAILOVER_AT);
  await store.failOver();
  const promotedAt = epochMs();
  await sleep(COUNTS_MS);
  const backAt = Math.max(...absences(running()).map(([, back]) => back));
  await exhaust('pk_after');
  const samples = await load;
  isOver = true;
  await measured;

  const seen = await arrivals('fingerprint');
  const { pk_soak: calls = [] } = seen;
  const uncounted = calls.length - Number(await store.client.get(keyOf('pk_soak')));
  const spans = absences(servers).map(([from, to]) => [from - LATE_MS, to + LATE_MS] as const);
  const uncountable = calls.filter((at) => spans.some(([from, to]) => at > from && at < to)).length;
  await replicas.stop();
  await store.stop();
  const errors = servers.flatMap(({ notable }) => notable.filter((line) => !line.includes('quota')));
  const failed = exits.filter((exit) => exit !== '0').length;
  const growth = [0, 1].map((at) =>
    flat(
      at + 1,
      memories.map((both) => both[at] ?? Number.NaN),
    ),
  );
  return [
    none(`company: at ${Math.round(rate)}/s through ${router.name}, lost or answered differently`, samples, isLost),
    atMost('company: proofs and seals of the last release, refused', 0, refused.length, '', refused.join()),
    ...tried.map(({ account, allowed }) =>
      atMost(`company: calls of ${account} with ${LEFT} left`, allowed, seen[account]?.length ?? Number.NaN),
    ),
    atMost('company: calls not counted, as the store was away', uncountable, uncounted, '', `of ${calls.length}`),
    atMost('company: from the promotion until all replicas count', COUNTS_MS, backAt - promotedAt, ' ms'),
    ...(window < MEASURED_S * 1_000 ? [] : growth),
    atMost('company: lines of the log at the level error', 0, errors.length, '', errors[0]),
    atMost(`company: exits that fail or take more than ${EXIT_S} s`, 0, failed, '', `${exits}`),
  ];
}

/** From when to when the store was away for one of these servers. */
function absences(servers: readonly Server[]): (readonly [away: number, back: number])[] {
  return servers.flatMap(({ notable }) => {
    const lines = notable.filter((line) => /quota/.test(line)).map((line) => JSON.parse(line));
    const isBack = ({ msg }: { readonly msg: string }) => /again|back/.test(msg);
    const timeOf = (line?: { readonly time: string }) => (line ? Date.parse(line.time) : epochMs());
    return lines.flatMap((line, at) => (isBack(line) ? [] : [[timeOf(line), timeOf(lines[at + 1])] as const]));
  });
}

/** Compares the median of what is in use in the last quarter with that of the first. */
function flat(replica: number, bytes: readonly number[]): Finding {
  const median = (part: readonly number[]) =>
    (part.toSorted((a, b) => a - b)[part.length >> 1] ?? Number.NaN) / 2 ** 20;
  const quarter = Math.ceil(bytes.length / 4);
  const [from, to] = [median(bytes.slice(0, quarter)), median(bytes.slice(-quarter))];
  const more = `${from.toFixed(1)} to ${to.toFixed(1)} MiB in use`;
  return atMost(`company: growth of replica ${replica}`, MAX_GROWTH_MIB, to - from, ' MiB', more);
}
