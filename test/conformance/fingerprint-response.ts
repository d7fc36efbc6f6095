import { expect } from 'vitest';
import signals from '../fixtures/signals.json' with { type: 'json' };
import { asking, expectSuccess, query, queryData } from './fingerprint-http.ts';
import { type Audit, audit } from './target.ts';

/** What is in a success beyond its form, which every reading of one checks (2.3 to 2.9). */

const HOUR = 3_600_000;

const idAudits: readonly Audit[] = [
  asking('FP-2.4-4', 'the time within event_id is the time of the query', async (application, token) => {
    const { event_id } = await queryData(application, token);
    const age = Date.now() - Number.parseInt(event_id.slice(4).replace('-', '').slice(0, 12), 16);
    expect(Math.abs(age)).toBeLessThan(HOUR);
  }),
  asking(
    'FP-2.4-5',
    'the request_id hangs on the token, not on the query or its context',
    async (application, token) => {
      const { request_id } = await queryData(application, token);
      expect(await queryData(application, token)).toMatchObject({ request_id });
      const event = {
        event_type: 'login',
        event_time: '2025-06-01T12:00:00Z',
        metadata: { account_id: 'conformance' },
      };
      expect(expectSuccess(await query(application, { device_token: token, ...event }))).toMatchObject({ request_id });
    },
  ),
  asking('FP-2.4-7', 'every query has an event_id of its own', async (application, token) => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => queryData(application, token)));
    expect(new Set(answers.map(({ event_id }) => event_id)).size).toBe(answers.length);
  }),
];

const MOBILE = { os: expect.any(String), pla: expect.any(String), mod: expect.any(String), osv: expect.any(String) };

const DEVICES = [
  ['android', 'androidToken', 'Android', MOBILE],
  ['ios', 'iosToken', 'iOS', MOBILE],
  ['web', 'webToken', 'Web/H5', { browser: expect.any(Object) }],
] as const;
const deviceAudits: readonly Audit[] = DEVICES.map(([id, token, client_type, device_basic]) =>
  audit(`FP-2.7-${id}`, `a device of ${client_type} has its parts`, ['application', token], async (target) => {
    const { detail } = await queryData(target.application, target[token]);
    expect(detail).toMatchObject({ client_type, device_basic });
  }),
);

/** The order of the hits is not shown. */
const signalAudits: readonly Audit[] = [
  audit('FP-2.4-8', 'signals without a hit are an empty array', ['application', 'quietToken'], async (target) => {
    expect(await queryData(target.application, target.quietToken)).toMatchObject({ signals: [] });
  }),
  audit(
    'FP-2.9-catalogue',
    'signals can be all of the catalogue at once',
    ['application', 'tokenWithSignals'],
    async (target) => {
      const token = target.tokenWithSignals(signals.map(({ signal }) => signal));
      const { signals: hits } = await queryData(target.application, token);
      expect(hits).toHaveLength(signals.length);
      expect(hits).toEqual(expect.arrayContaining(signals));
    },
  ),
];

export const responseAudits: readonly Audit[] = [...idAudits, ...deviceAudits, ...signalAudits];
