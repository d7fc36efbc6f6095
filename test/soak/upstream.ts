import { createServer, type Socket } from 'node:net';
import { readRequests } from '../bench/http-requests.ts';
import { lotNumber } from '../bench/tokens.ts';
import { captchaPass, judgement, rejection } from '../bench/upstream-answers.ts';
import { listen } from '../support/loopback.ts';
import { type Behaviour, type Calls, ENDPOINTS, type Endpoint, epochMs, type Order } from './upstream-commands.ts';

/** Both services in a process of their own, each region at an address of its own. Commands set how each behaves. */

const behaviours = new Map<Endpoint, Behaviour>(
  ENDPOINTS.map((endpoint) => [endpoint, { mode: 'good', latencyMs: 20 }]),
);
const calls = new Map<Endpoint, [at: number, number: number][]>(ENDPOINTS.map((endpoint) => [endpoint, []]));

const NUMBER = /"device_token":"([a-z]+)-(\d{12})"|lot_number=[0-9a-f]{20}(\d{12})/;

async function open(endpoint: Endpoint): Promise<readonly [Endpoint, string]> {
  const server = createServer({ noDelay: true }, (socket) => {
    readRequests(socket, (request) => answer(endpoint, socket, request));
  });
  return [endpoint, `http://127.0.0.1:${await listen(server)}`];
}

function answer(endpoint: Endpoint, socket: Socket, request: string): void {
  const [, kind, token, lot] = NUMBER.exec(request) ?? [];
  calls.get(endpoint)?.push([epochMs(), Number(token ?? lot)]);
  const { mode, latencyMs, spread = 0 } = behaviours.get(endpoint) ?? { mode: 'hang', latencyMs: 0 };
  if (mode === 'reset') socket.resetAndDestroy();
  if (mode !== 'good') return;
  const text = answerTo(kind, token, lot);
  const send = () => socket.writable && socket.write(text, 'latin1');
  if (latencyMs === 0) send();
  else setTimeout(send, latencyMs * (1 + spread * (2 * Math.random() - 1)));
}

function answerTo(kind: string | undefined, token = '0'.repeat(12), lot = ''): string {
  if (lot !== '') return captchaPass(lotNumber(Number(lot)));
  return kind === 'rejected' ? rejection('') : judgement(token);
}

const urls = Object.fromEntries(await Promise.all(ENDPOINTS.map(open)));

process.on('message', (order: Order) => {
  switch (order.order) {
    case 'addresses':
      return process.send?.(urls);
    case 'behave':
      behaviours.set(order.endpoint, order.behaviour);
      return process.send?.({ at: epochMs() });
    case 'calls': {
      const all: Calls = calls.get(order.endpoint) ?? [];
      return process.send?.(all);
    }
  }
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
process.stdout.write(`${JSON.stringify({ url: urls['fingerprint-EU'] })}\n`);
