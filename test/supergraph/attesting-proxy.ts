import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { listen, type Running } from './listen.ts';
import type { Signer } from './signer.ts';

/**
 * Stands between the gateways and the device-trust subgraph until that one signs attestations itself: it fills the field
 * `attestation` of each outcome that proceeds, for the order service and whoever is signed in.
 */
export function startAttestingProxy(graphqlUrl: string, signer: Signer): Promise<Running> {
  return listen(async (request, response) => {
    const { 'router-authorization': secret, 'x-user-id': sub } = request.headers;
    const headers = { 'content-type': 'application/json', 'router-authorization': String(secret) };
    const answer = await fetch(graphqlUrl, { method: 'POST', headers, body: await text(request) });
    const body = await answer.json();
    const verdict = body.data?.validateCaptcha;
    if (verdict && 'attestation' in verdict && verdict.__typename !== 'CaptchaFailed' && verdict.cause !== 'CLIENT') {
      const asr = verdict.__typename === 'CaptchaPassed' ? 'verified' : 'unverified';
      verdict.attestation = await signer.sign({ sub, asr, jti: randomUUID() });
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }, 0);
}
