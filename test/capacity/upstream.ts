import { writeFileSync } from 'node:fs';
import { createServer } from 'node:tls';
import { readRequests } from '../bench/http-requests.ts';
import { judgement, rejection } from '../bench/upstream-answers.ts';
import { publicKeyOf } from '../soak/questions.ts';
import { makeCertificate } from '../support/certificate.ts';
import { listen } from '../support/loopback.ts';

/**
 * The fingerprint service, over TLS as the real one is, in a process of its own: `upstream.ts LATENCY_MS CERTIFICATE_FILE`. It
 * writes its certificate into that file, prints its address, and answers each call after the latency, and a probe at once.
 */

const [latencyMs = Number.NaN, file = ''] = [Number(process.argv[2]), process.argv[3]];
const DAY_MS = 86_400_000;
const certificate = makeCertificate({
  host: 'localhost',
  notBefore: new Date(Date.now() - DAY_MS),
  notAfter: new Date(Date.now() + DAY_MS),
});
writeFileSync(file, certificate.cert);

const server = createServer({ ...certificate, noDelay: true }, (socket) =>
  readRequests(socket, (request) => {
    const token = /"device_token":"([^"]*)"/.exec(request)?.[1] ?? '';
    // Those of the application of region NA are for warming up.
    const ms = request.includes(publicKeyOf('NA')) ? 0 : latencyMs;
    if (token === '') socket.write(rejection(''), 'latin1');
    else setTimeout(() => socket.write(judgement(token.slice(-12)), 'latin1'), ms);
  }),
);
// Whoever is ended resets its connections.
server.on('tlsClientError', () => {});
process.stdout.write(`${JSON.stringify({ url: `https://localhost:${await listen(server)}` })}\n`);
