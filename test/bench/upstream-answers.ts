/** What both services send, as HTTP: the shapes of the two documents, with a gap for what differs from call to call. */

const JUDGEMENT = JSON.stringify({
  code: 200,
  message: 'Success',
  data: {
    request_id: 'req_01943f2a-6c1e-7a40-9c31-{}',
    event_id: 'evt_0195a7d0-13b2-7c55-8f02-{}',
    fp_detail: { device_id: '6f1c0e5b8a7d4c3e9b2a1f0d8c7b6a5f4e3d2c1b0a9f8e7d6c5b{}', version: '1.0' },
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
});

const REJECTION = JSON.stringify({
  code: 400,
  message: 'Invalid request',
  data: { errors: [{ field: 'device_token', reason: 'Invalid token', type: 'value_error' }] },
});

const CAPTCHA_PASS = JSON.stringify({
  status: 'success',
  result: 'success',
  reason: '',
  captcha_args: {
    used_type: 'slide',
    user_ip: '203.0.113.40',
    lot_number: '{}',
    scene: 'login',
    referer: 'https://shop.example/login',
  },
});

/** The judgement of a token that ends with these 12 digits. */
export const judgement = prepare('200 OK', JUDGEMENT, 12);

/** The refusal of a token. */
export const rejection = prepare('400 Bad Request', REJECTION, 0);

/** The pass of a challenge with this serial number of 32 characters. */
export const captchaPass = prepare('200 OK', CAPTCHA_PASS, 32);

/** A whole answer whose gaps take a text of `width` characters, so that its length is known beforehand. */
function prepare(status: string, body: string, width: number): (gap: string) => string {
  const parts = body.split('{}');
  const length = body.length + (parts.length - 1) * (width - '{}'.length);
  // Connections outlive the pauses between two rounds, as those to a real service would.
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\nkeep-alive: timeout=60\r\ncontent-length: ${length}\r\n\r\n`;
  return (gap) => head + parts.join(gap);
}
