import { createServer } from 'node:net';
import { listen } from '../support/loopback.ts';

/**
 * Both services in a process of their own, with the answers of the two documents. It reads just enough HTTP/1.1 from a bare
 * socket to find the token or the serial number: an upstream that worked harder would be what is measured.
 */

/** `#` stands for what differs from call to call. */
export const JUDGEMENT = {
  code: 200,
  message: 'Success',
  data: {
    request_id: 'req_01943f2a-6c1e-7a40-9c31-#',
    event_id: 'evt_0195a7d0-13b2-7c55-8f02-#',
    fp_detail: { device_id: '6f1c0e5b8a7d4c3e9b2a1f0d8c7b6a5f4e3d2c1b0a9f8e7d6c5b#', version: '1.0' },
    signals: [
      { signal: 'EMULATOR', level: 'HIGH', confidence: 0.95 },
      { signal: 'NETWORK_PROXY', level: 'MEDIUM', confidence: 1 },
      { signal: 'VPN_ENABLED', level: 'LOW', confidence: 1 },
      { signal: 'DEVICE_ROOTED', level: 'HIGH', confidence: 1 },
      { signal: 'WHITELIST_IP', level: 'HIGH', confidence: 1 },
      { signal: 'SYSTEM_VERSION_TOO_LOW', level: 'MEDIUM', confidence: 0.6 },
    ],
    detail: {
      client_type: 'Android',
      device_basic: { os: 'Android', pla: 'arm64-v8a', mod: 'Pixel 8', osv: '15' },
      ip_info: { ip: '203.0.113.10' },
    },
  },
};
export const CAPTCHA_PASS = {
  status: 'success',
  result: 'success',
  reason: '',
  captcha_args: {
    used_type: 'slide',
    user_ip: '203.0.113.40',
    lot_number: '#',
    scene: 'login',
    referer: 'https://shop.example/login',
  },
};

const judgement = JSON.stringify(JUDGEMENT);
const captchaPass = JSON.stringify(CAPTCHA_PASS);
/** What the empty token of a probe gets. */
const rejection = answer(
  '400 Bad Request',
  '{"code":400,"message":"","data":{"errors":[{"field":"device_token","reason":"Invalid token","type":"value_error"}]}}',
);

/** Connections outlive the pauses between two rounds, as those to a real service would. */
function answer(status: string, body: string): string {
  const headers = `content-type: application/json\r\nkeep-alive: timeout=60\r\ncontent-length: ${body.length}`;
  return `HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`;
}

const TOKEN = /"device_token":"([^"]*)"/;
const LOT_NUMBER = /(?:^|&)lot_number=([0-9a-f]{32})/;

function answerTo(head: string, body: string): string {
  if (head.startsWith('POST /validate')) {
    return answer('200 OK', captchaPass.replace('#', LOT_NUMBER.exec(body)?.[1] ?? ''));
  }
  const token = TOKEN.exec(body)?.[1] ?? '';
  return token === '' ? rejection : answer('200 OK', judgement.replaceAll('#', token.slice(-12)));
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    pending += text;
    const [head = '', body = ''] = pending.split('\r\n\r\n');
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    // Nobody sends a second request on a connection before the first one is answered.
    if (length === undefined || body.length < Number(length)) return;
    pending = '';
    socket.write(answerTo(head, body), 'latin1');
  });
  // A server that is ended resets its connections.
  socket.on('error', () => {});
});
process.stdout.write(`{"url":"http://127.0.0.1:${await listen(server)}"}\n`);
