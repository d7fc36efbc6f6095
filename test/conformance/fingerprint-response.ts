import { isIP } from 'node:net';
import signals from '../fixtures/signals.json' with { type: 'json' };
import {
  expectKeys,
  expectList,
  expectMatch,
  expectObject,
  expectSame,
  expectText,
  expectThat,
  fail,
} from './expect.ts';
import { expectSuccess, query, queryData, queryDetail } from './fingerprint-http.ts';
import { type Application, type Audit, audit } from './target.ts';

/** The success envelope and everything in it (2.3 to 2.9). */

/** UUID version 7 (RFC 9562, 5.7): 48 bits of milliseconds, the version digit 7, the variant bits 10. */
const UUID_V7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const REQUEST_ID = new RegExp(`^req_${UUID_V7}$`, 'i');
const EVENT_ID = new RegExp(`^evt_${UUID_V7}$`, 'i');
const HOUR = 3_600_000;

const both = ['application', 'token'] as const;

const envelopeAudits: readonly Audit[] = [
  audit('FP-2.3-1', 'exactly code 200, message Success, and data', both, async ({ application, token }) => {
    const { status, body } = await query(application, { device_token: token });
    const { code, message, data } = expectKeys(body, ['code', 'message', 'data'], 'the success envelope');
    expectSame([status, code, message], [200, 200, 'Success'], 'status, code and message');
    expectObject(data, 'data');
  }),
  audit('FP-2.4-1', 'data holds exactly its five fields', both, async ({ application, token }) => {
    const data = await queryData(application, token);
    expectKeys(data, ['request_id', 'event_id', 'fp_detail', 'signals', 'detail'], 'data');
  }),
  audit('FP-2.4-2', 'request_id is req_ and a UUID v7', both, async ({ application, token }) => {
    expectMatch((await queryData(application, token))['request_id'], REQUEST_ID, 'request_id');
  }),
  audit('FP-2.4-3', 'event_id is evt_ and a UUID v7', both, async ({ application, token }) => {
    expectMatch((await queryData(application, token))['event_id'], EVENT_ID, 'event_id');
  }),
  audit('FP-2.4-4', 'the time within event_id is the time of the query', both, async ({ application, token }) => {
    const eventId = expectMatch((await queryData(application, token))['event_id'], EVENT_ID, 'event_id');
    const age = Date.now() - Number.parseInt(eventId.slice(4).replace('-', '').slice(0, 12), 16);
    expectThat(Math.abs(age) < HOUR, 'an event_id of the last hour', { eventId, age });
  }),
  audit('FP-2.4-5', 'a repeated query keeps its request_id', both, async ({ application, token }) => {
    const first = await queryData(application, token);
    const again = await queryData(application, token);
    expectSame(again['request_id'], first['request_id'], 'request_id');
  }),
  audit('FP-2.4-6', 'the request_id hangs on the token, not on the context', both, async ({ application, token }) => {
    const plain = await queryData(application, token);
    const context = {
      metadata: { account_id: 'conformance' },
      event_type: 'login',
      event_time: '2025-06-01T12:00:00Z',
    };
    const inContext = expectSuccess(await query(application, { device_token: token, ...context }));
    expectSame(inContext['request_id'], plain['request_id'], 'request_id');
  }),
  audit('FP-2.4-7', 'every query has an event_id of its own', both, async ({ application, token }) => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => queryData(application, token)));
    const eventIds = new Set(answers.map((data) => data['event_id']));
    expectSame(eventIds.size, answers.length, 'different event_ids, in number');
  }),
  audit(
    'FP-2.4-8',
    'no signal hit: an empty array',
    ['application', 'quietToken'],
    async ({ application, quietToken }) => {
      expectSame((await queryData(application, quietToken))['signals'], [], 'signals');
    },
  ),
  audit('FP-2.5-1', 'fp_detail holds exactly device_id and version', both, async ({ application, token }) => {
    const detail = expectKeys(
      (await queryData(application, token))['fp_detail'],
      ['device_id', 'version'],
      'fp_detail',
    );
    expectText(detail['device_id'], 'device_id');
  }),
  audit('FP-2.5-2', 'the fingerprint version is 1.0', both, async ({ application, token }) => {
    const detail = expectObject((await queryData(application, token))['fp_detail'], 'fp_detail');
    expectSame(detail['version'], '1.0', 'version');
  }),
  audit('FP-2.6-1', 'detail holds exactly its three fields', both, async ({ application, token }) => {
    const { detail } = await queryData(application, token);
    expectKeys(detail, ['client_type', 'device_basic', 'ip_info'], 'detail');
  }),
  audit('FP-2.6-2', 'ip_info holds exactly an ip', both, async ({ application, token }) => {
    const { ip } = expectKeys((await queryDetail(application, token))['ip_info'], ['ip'], 'ip_info');
    expectThat(isIP(expectText(ip, 'ip')) > 0, 'an IP address', ip);
  }),
  audit('FP-2.6-3', 'client_type is one of the three', both, async ({ application, token }) => {
    const { client_type } = await queryDetail(application, token);
    expectThat(
      ['Android', 'iOS', 'Web/H5'].some((type) => type === client_type),
      'a client_type',
      client_type,
    );
  }),
];

async function expectMobile(application: Application, token: string, clientType: string): Promise<void> {
  const { client_type, device_basic } = await queryDetail(application, token);
  expectSame(client_type, clientType, 'client_type');
  const basic = expectKeys(device_basic, ['os', 'pla', 'mod', 'osv'], 'device_basic');
  for (const [key, value] of Object.entries(basic)) expectText(value, `device_basic.${key}`);
}

const deviceAudits: readonly Audit[] = [
  audit('FP-2.7-android', 'Android: exactly four strings', ['application', 'androidToken'], (target) =>
    expectMobile(target.application, target.androidToken, 'Android'),
  ),
  audit('FP-2.7-ios', 'iOS: exactly four strings', ['application', 'iosToken'], (target) =>
    expectMobile(target.application, target.iosToken, 'iOS'),
  ),
  // What the three objects hold is open: some keys occur, others may join them.
  audit('FP-2.7-web', 'Web/H5: exactly three objects, open inside', ['application', 'webToken'], async (target) => {
    const { client_type, device_basic } = await queryDetail(target.application, target.webToken);
    expectSame(client_type, 'Web/H5', 'client_type');
    const basic = expectKeys(device_basic, ['browser', 'device', 'os'], 'device_basic');
    for (const [key, value] of Object.entries(basic)) expectObject(value, `device_basic.${key}`);
  }),
];

interface Signal {
  readonly signal: string;
  readonly level: unknown;
  readonly confidence: unknown;
}

async function querySignals(application: Application, token: string): Promise<readonly Signal[]> {
  const list = expectList((await queryData(application, token))['signals'], 'signals');
  return list.map((entry) => {
    const { signal, level, confidence } = expectKeys(entry, ['signal', 'level', 'confidence'], 'a signal');
    return { signal: expectText(signal, 'signal'), level, confidence };
  });
}

/** By name: the order of the hits is not shown. */
function byName(list: readonly Signal[]): readonly Signal[] {
  return list.toSorted((a, b) => (a.signal < b.signal ? -1 : 1));
}

const allNames = signals.map(({ signal }) => signal);

const signalAudits: readonly Audit[] = [
  audit(
    'FP-2.8-1',
    'a signal holds exactly signal, level and confidence',
    ['application', 'tokenWithSignals'],
    async (target) => {
      const hits = await querySignals(target.application, target.tokenWithSignals(['EMULATOR', 'VPN_ENABLED']));
      expectSame(hits.length, 2, 'signals hit, in number');
    },
  ),
  audit('FP-2.8-2', 'level is LOW, MEDIUM or HIGH', ['application', 'tokenWithSignals'], async (target) => {
    for (const { signal, level } of await querySignals(target.application, target.tokenWithSignals(allNames))) {
      expectThat(
        ['LOW', 'MEDIUM', 'HIGH'].some((one) => one === level),
        `a level of ${signal}`,
        level,
      );
    }
  }),
  audit('FP-2.9-catalogue', 'all 51 signals at once', ['application', 'tokenWithSignals'], async (target) => {
    const hits = await querySignals(target.application, target.tokenWithSignals(allNames));
    expectSame(byName(hits), byName(signals), 'the whole catalogue');
  }),
  audit('FP-2.9-known', 'whatever is hit stands in the catalogue', both, async ({ application, token }) => {
    for (const hit of await querySignals(application, token)) {
      const documented = signals.find(({ signal }) => signal === hit.signal) ?? fail('a signal of the catalogue', hit);
      expectSame(hit, documented, 'the catalogued');
    }
  }),
  ...signals.map((documented) =>
    audit(
      `FP-2.9-${documented.signal}`,
      `${documented.signal} is ${documented.level} with ${documented.confidence}`,
      ['application', 'tokenWithSignals'],
      async ({ application, tokenWithSignals }) => {
        const hits = await querySignals(application, tokenWithSignals([documented.signal]));
        expectSame(hits, [documented], 'signals');
      },
    ),
  ),
  audit('FP-8-confidence', 'confidence lies within 0 and 1', ['application', 'tokenWithSignals'], async (target) => {
    for (const { signal, confidence } of await querySignals(target.application, target.tokenWithSignals(allNames))) {
      const within = typeof confidence === 'number' && confidence >= 0 && confidence <= 1;
      expectThat(within, `a confidence of ${signal} within 0 and 1`, confidence);
    }
  }),
];

export const responseAudits: readonly Audit[] = [...envelopeAudits, ...deviceAudits, ...signalAudits];
