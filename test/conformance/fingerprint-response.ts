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
import { asking, expectSuccess, query, queryData, queryDetail } from './fingerprint-http.ts';
import { type Application, type Audit, audit } from './target.ts';

/** The success envelope and everything in it (2.3 to 2.9). */

/** UUID version 7 (RFC 9562, 5.7): 48 bits of milliseconds, the version digit 7, the variant bits 10. */
const UUID_V7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const REQUEST_ID = new RegExp(`^req_${UUID_V7}$`, 'i');
const EVENT_ID = new RegExp(`^evt_${UUID_V7}$`, 'i');
const HOUR = 3_600_000;

const envelopeAudits: readonly Audit[] = [
  asking('FP-2.3-1', 'exactly code 200, message Success, and data', async (application, token) => {
    const { status, body } = await query(application, { device_token: token });
    const { code, message, data } = expectKeys(body, ['code', 'message', 'data'], 'the success envelope');
    expectSame([status, code, message], [200, 200, 'Success'], 'status, code and message');
    expectObject(data, 'data');
  }),
  asking('FP-2.4-2', 'request_id is req_ and a UUID v7', async (application, token) => {
    expectMatch((await queryData(application, token))['request_id'], REQUEST_ID, 'request_id');
  }),
  asking('FP-2.4-3', 'event_id is evt_ and a UUID v7', async (application, token) => {
    expectMatch((await queryData(application, token))['event_id'], EVENT_ID, 'event_id');
  }),
  asking('FP-2.4-4', 'the time within event_id is the time of the query', async (application, token) => {
    const eventId = expectMatch((await queryData(application, token))['event_id'], EVENT_ID, 'event_id');
    const age = Date.now() - Number.parseInt(eventId.slice(4).replace('-', '').slice(0, 12), 16);
    expectThat(Math.abs(age) < HOUR, 'an event_id of the last hour', { eventId, age });
  }),
  asking('FP-2.4-5', 'a repeated query keeps its request_id', async (application, token) => {
    const first = await queryData(application, token);
    const again = await queryData(application, token);
    expectSame(again['request_id'], first['request_id'], 'request_id');
  }),
  asking('FP-2.4-6', 'the request_id hangs on the token, not on the context', async (application, token) => {
    const plain = await queryData(application, token);
    const event = { event_type: 'login', event_time: '2025-06-01T12:00:00Z', metadata: { account_id: 'conformance' } };
    const inContext = expectSuccess(await query(application, { device_token: token, ...event }));
    expectSame(inContext['request_id'], plain['request_id'], 'request_id');
  }),
  asking('FP-2.4-7', 'every query has an event_id of its own', async (application, token) => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => queryData(application, token)));
    const eventIds = new Set(answers.map((data) => data['event_id']));
    expectSame(eventIds.size, answers.length, 'different event_ids, in number');
  }),
  audit('FP-2.4-8', 'no signal hit: an empty array', ['application', 'quietToken'], async (target) => {
    expectSame((await queryData(target.application, target.quietToken))['signals'], [], 'signals');
  }),
  asking('FP-2.5-1', 'fp_detail holds exactly a device_id and version 1.0', async (application, token) => {
    const { fp_detail } = await queryData(application, token);
    const { device_id, version } = expectKeys(fp_detail, ['device_id', 'version'], 'fp_detail');
    expectText(device_id, 'device_id');
    expectSame(version, '1.0', 'version');
  }),
  asking('FP-2.6-2', 'ip_info holds exactly an ip', async (application, token) => {
    const { ip } = expectKeys((await queryDetail(application, token))['ip_info'], ['ip'], 'ip_info');
    expectThat(isIP(expectText(ip, 'ip')) > 0, 'an IP address', ip);
  }),
  asking('FP-2.6-3', 'client_type is one of the three', async (application, token) => {
    const { client_type } = await queryDetail(application, token);
    expectMatch(client_type, /^(Android|iOS|Web\/H5)$/, 'client_type');
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
  audit('FP-2.8-1', 'a signal has exactly three fields', ['application', 'tokenWithSignals'], async (target) => {
    const hits = await querySignals(target.application, target.tokenWithSignals(['EMULATOR', 'VPN_ENABLED']));
    expectSame(hits.length, 2, 'signals hit, in number');
  }),
  audit('FP-2.9-catalogue', 'all 51 signals at once', ['application', 'tokenWithSignals'], async (target) => {
    const hits = await querySignals(target.application, target.tokenWithSignals(allNames));
    expectSame(byName(hits), byName(signals), 'the whole catalogue');
  }),
  asking('FP-2.9-known', 'whatever is hit stands in the catalogue', async (application, token) => {
    for (const hit of await querySignals(application, token)) {
      const documented = signals.find(({ signal }) => signal === hit.signal) ?? fail('a signal of the catalogue', hit);
      expectSame(hit, documented, 'the catalogued');
    }
  }),
];

export const responseAudits: readonly Audit[] = [...envelopeAudits, ...deviceAudits, ...signalAudits];
