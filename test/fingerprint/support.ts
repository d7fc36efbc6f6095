import { DeviceTrustError } from '../../src/errors.ts';
import { type FingerprintOutcome, interpret } from '../../src/fingerprint/outcome.ts';
import { ANDROID } from '../faults/documented.ts';
import { startInLiveMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask, post } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** The `data` of a documented response for an Android device. */
export const { data: DATA } = ANDROID;

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
    /** Asks with variables as JSON, which may have keys that no literal of JavaScript can have. */
    queryText: (variables: string) =>
      post(app.graphqlUrl, `{"query":${JSON.stringify(FINGERPRINT_QUERY)},"variables":${variables}}`),
    stop: () => Promise.all([app.stop(), upstream.stop()]),
  };
}

/** The outcome of a response; an error is thrown. */
export function outcomeOf(...given: Parameters<typeof interpret>): FingerprintOutcome {
  const { result } = interpret(...given);
  if (result instanceof DeviceTrustError) throw result;
  return result;
}
