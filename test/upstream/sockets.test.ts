import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { isProbe, probeAnswer } from '../support/probes.ts';
import { ask } from '../support/requests.ts';

test('calls of the queue use the sockets of those that ended, so that there are never more than calls under way', async () => {
  const MAX_IN_FLIGHT = 8;
  const allCame = Promise.withResolvers<void>();
  const probes = new Set<unknown>();
  const sockets = new Set<unknown>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    (isProbe(body) ? probes : sockets).add(request.socket);
    if (!isProbe(body)) await allCame.promise;
    // What an answer says does not matter here.
    const answer = probeAnswer(isProbe(body) ? body : '{"device_token":""}');
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  onTestFinished(() => closeAtOnce(server));
  const app = await startInLiveMode(
    { GLB: url, NA: url, EU: url },
    { allowDirectAccess: true, upstreamMaxInFlight: MAX_IN_FLIGHT, upstreamMaxQueue: 200 },
  );
  onTestFinished(app.stop);
  const asked = Promise.all(
    Array.from({ length: 100 }, (_, at) => ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: `token-${at}` })),
  );
  const labels = { service: 'fingerprint', region: 'GLB' };
  await expect
    .poll(async () => (await readMetrics(app)).value('device_trust_upstream_queued', labels))
    .toBe(100 - MAX_IN_FLIGHT);
  allCame.resolve();
  expect((await asked).map(({ data }) => data.deviceFingerprint.reason)).toEqual(Array(100).fill('INVALID_TOKEN'));
  expect(sockets.size).toBe(MAX_IN_FLIGHT);
});
