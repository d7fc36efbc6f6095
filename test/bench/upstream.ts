import { createServer, type Socket } from 'node:net';
import { listen } from '../support/loopback.ts';
import { readRequests } from './http-requests.ts';
import { SLOW_MS } from './tokens.ts';
import { captchaPass, judgement, rejection } from './upstream-answers.ts';

/**
 * Both services in a process of their own. It reads just enough HTTP/1.1 from a bare socket to find the token or the
 * serial number: an upstream that worked harder would be what is measured.
 */

const TOKEN = '"device_token":"';
const LOT_NUMBER = /(?:^|&)lot_number=([0-9a-f]{32})/;

const server = createServer({ noDelay: true }, (socket) => {
  readRequests(socket, (request) => answer(socket, request));
});

function answer(socket: Socket, request: string): void {
  if (request.startsWith('POST /validate')) {
    const body = request.slice(request.indexOf('\r\n\r\n') + 4);
    socket.write(captchaPass(LOT_NUMBER.exec(body)?.[1] ?? '0'.repeat(32)), 'latin1');
    return;
  }
  const from = request.indexOf(TOKEN) + TOKEN.length;
  const token = request.slice(from, request.indexOf('"', from));
  // The token of a probe is empty.
  if (token === '' || token.startsWith('rejected')) {
    socket.write(rejection(''), 'latin1');
  } else if (token.startsWith('slow')) {
    setTimeout(() => socket.write(judgement(token.slice(-12)), 'latin1'), SLOW_MS);
  } else {
    socket.write(judgement(token.slice(-12)), 'latin1');
  }
}

process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${await listen(server)}` })}\n`);
