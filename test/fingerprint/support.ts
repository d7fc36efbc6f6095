import { startInLiveMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** The `data` of a documented response for an Android device. */
export const DATA = {
  request_id: 'req_019a9b3e-0000-7000-8000-000000000001',
  event_id: 'evt_019a9b3e-0000-7000-8000-000000000002',
  fp_detail: { device_id: 'device-1', version: '1.0' },
  signals: [] as unknown[],
  detail: {
    client_type: 'Android',
    device_basic: { os: 'Android', pla: 'arm64', mod: 'Pixel 8', osv: '15' } as unknown,
    ip_info: { ip: '203.0.113.7' },
  },
};

/** An app whose upstream records what it receives, and responds as the test sets. */
export async function startRecorded() {
  let response = { status: 200, body: {} };
  const upstream = await startUpstream((_request, to) => sendJson(to, response.status, response.body));
  const app = await startInLiveMode(upstream.url);
  return {
    received: upstream.received,
    /** Responds with this device from now on. */
    respondWith(data: unknown) {
      response = { status: 200, body: { code: 200, message: 'Success', data } };
    },
    /** Responds with a 400 and this `data` from now on. */
    rejectWith(data: unknown) {
      response = { status: 400, body: { code: 400, message: 'Invalid request', data } };
    },
    query: (variables: Record<string, unknown>) => ask(app.graphqlUrl, FINGERPRINT_QUERY, variables),
    stop: () => Promise.all([app.stop(), upstream.stop()]),
  };
}
