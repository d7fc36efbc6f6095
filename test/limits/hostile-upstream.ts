import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signal-catalogue.ts';
import { ANDROID, altered, spliced, WEB } from '../faults/documented.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/**
 * A fingerprint service that answers with as much as the documents know, or with more. It is a program of its own, so that
 * what it costs is not counted as a cost of the subgraph. Prints its URL.
 */

const signals = SIGNAL_CATALOGUE.map(({ code, level, confidence }) => ({ signal: code, level, confidence }));
const PHONE = { ...ANDROID, data: { ...ANDROID.data, signals } };
const FREE_FORM = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`key${at}`, 'x'.repeat(30)]));
const PAGE = {
  ...WEB,
  data: {
    ...WEB.data,
    signals,
    detail: { ...WEB.data.detail, device_basic: { browser: FREE_FORM, device: FREE_FORM, os: FREE_FORM } },
  },
};

/** JSON of this many bytes, from one piece. */
const much = (piece: string, bytes = 250_000) =>
  Array(Math.floor(bytes / (piece.length + 1)))
    .fill(piece)
    .join(',');
const manyKeys = Array.from({ length: 22_000 }, (_, at) => `"k${at}":1`).join(',');
const browser = (json: string) => spliced(WEB, 'data.detail.device_basic.browser', json);
const SIGNALS_3500 = Array.from({ length: 3_500 }, (_, at) => ({ signal: `S${at}`, level: 'HIGH', confidence: 0.95 }));
/** What no documented service sends: most of nearly the largest size, by the begin of the tokens that get it. */
export const HOSTILE: Readonly<Record<string, string>> = {
  'long text': altered(ANDROID, 'data.fp_detail.version', 'v'.repeat(250_000)),
  '3,500 signals': altered(ANDROID, 'data.signals', SIGNALS_3500),
  'texts for signals': spliced(ANDROID, 'data.signals', `[${much(`"${'é'.repeat(43)}"`)}]`),
  'texts for a version': spliced(ANDROID, 'data.fp_detail.version', `[${much('"x1"')}]`),
  'objects for a version': spliced(ANDROID, 'data.fp_detail.version', `[${much('{"a":{"b":{"c":1e999}}}')}]`),
  'an object for a version': spliced(ANDROID, 'data.fp_detail.version', `{${manyKeys}}`),
  'broken signals': spliced(ANDROID, 'data.signals', `[${much('{}')}]`),
  'many keys': browser(`{${manyKeys}}`),
  'texts of a page': browser(`{${Array.from({ length: 24 }, (_, at) => `"k${at}":"${'é'.repeat(5_000)}"`)}}`),
  'keys of a page': browser(`{${Array.from({ length: 400 }, (_, at) => `"key number ${at}":"${at}"`)}}`),
  'equal keys': browser(`{${much('"name":"a"')}}`),
  'empty objects': browser(`{"a":[${much('{}')}]}`),
  'empty lists': browser(`{"a":[${much('[]')}]}`),
  'lists in 16 KiB': browser(`{"a":[${much('[]', 15_000)}]}`),
  'objects in 16 KiB': browser(`{"a":[${much('{}', 15_000)}]}`),
  'unsafe keys': browser(`{"a":[${much('{"__proto__":{}}')}]}`),
  'deep lists': browser(`{"a":${'['.repeat(120_000)}${']'.repeat(120_000)}}`),
  'large numbers': browser(`{"a":[${much('1e999')}]}`),
  'long numbers': browser(`{${Array.from({ length: 950 }, (_, at) => `"k${at}":${-(1 + at / 951) * 1e-200}`)}}`),
  'keys that are numbers': browser(`{${Array.from({ length: 900 }, (_, at) => `"${at * 1_000}":1`)}}`),
  escapes: browser(`{"name":"${'\\u0001'.repeat(40_000)}"}`),
  'undocumented objects': spliced({ ...ANDROID, more: null }, 'more', `[${much('{}')}]`),
  'broken errors': `{"code":400,"message":"Invalid request","data":{"errors":[${much('{}')}]}}`,
};

const hostile = Object.entries(HOSTILE).map(([token, text]) => [token, Buffer.from(text)] as const);

async function main(): Promise<void> {
  const upstream = await startUpstream(({ body }, response) => {
    upstream.received.length = 0;
    const { device_token: token } = JSON.parse(body);
    const [, bytes] = hostile.find(([begin]) => token.startsWith(begin)) ?? [];
    const status = token.startsWith('broken errors') ? 400 : 200;
    if (bytes) return void response.writeHead(status, { 'content-type': 'application/json' }).end(bytes);
    if (token.startsWith('web')) return sendJson(response, 200, PAGE);
    if (token.startsWith('few')) return sendJson(response, 200, ANDROID);
    if (token.startsWith('bad')) return sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} });
    return sendJson(response, 200, PHONE);
  });
  process.stdout.write(`${upstream.url}\n`);
}

if (import.meta.main) await main();
