import { createHmac } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { buildSubgraphSchema, type GraphQLSchemaModule } from '@apollo/subgraph';
import { parse } from 'graphql';
import { SIGNAL_CATALOGUE } from '../../../src/fingerprint/signal-catalogue.ts';
import type {
  MutationValidateCaptchaArgs,
  QueryDeviceFingerprintArgs,
  ValidateCaptchaInput,
} from '../../../src/schema.generated.ts';
import type { CAPTCHA_PASS, JUDGEMENT } from '../upstream.ts';

/** The simplest honest mapping between the graph and the two services, shared by every contender but ours. No limits, no checks. */

/** Sends one POST, and gives the status and the parsed body of its answer. */
type Post = (path: string, headers: Record<string, string>, body: string) => Promise<[number, unknown]>;

const CATALOGUE = new Map<string, (typeof SIGNAL_CATALOGUE)[number] | Record<string, undefined>>(
  SIGNAL_CATALOGUE.map((row) => [row.code, row]),
);
const FINGERPRINT_HEADERS = { authorization: 'Bearer sk_bench', 'content-type': 'application/json' };
const FORM_HEADERS = { 'content-type': 'application/x-www-form-urlencoded' };

/** Asks the fingerprint service; what comes back has its keys in the order of the benchmark's query. */
async function judge(post: Post, { token, metadata, eventType }: QueryDeviceFingerprintArgs) {
  const body = JSON.stringify({
    device_token: token,
    metadata: metadata ? toWireMetadata(metadata) : undefined,
    event_type: eventType ?? undefined,
  });
  const [status, json] = await post('/api/v2/fp_query/pk_bench', FINGERPRINT_HEADERS, body);
  if (status !== 200) throw new Error(`the fingerprint service answered ${status}`);
  // Safe: the upstream of the benchmark answers with nothing else.
  const { request_id, event_id, fp_detail, signals, detail } = (json as typeof JUDGEMENT).data;
  const { os, pla, mod, osv } = detail.device_basic;
  return {
    __typename: 'DeviceFingerprint',
    publicKey: 'pk_bench',
    requestId: request_id,
    eventId: event_id,
    version: fp_detail.version,
    clientType: detail.client_type === 'Android' ? 'ANDROID' : 'IOS',
    device: { id: fp_detail.device_id },
    deviceBasic: {
      __typename: 'Mobile',
      os: { name: os, version: osv, additional: null },
      architecture: pla,
      model: mod,
    },
    ipInfo: { ip: detail.ip_info.ip },
    signals: signals.map(({ signal, level, confidence }) => {
      const { code = null, effect = null, meaning = null } = CATALOGUE.get(signal) ?? {};
      return { name: signal, code, level, confidence, effect, meaning };
    }),
  };
}

/** `ipAddrV4` is `ip_addr_v4` on the wire, and so on for every documented key. */
function toWireMetadata(metadata: object) {
  const snakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(metadata).map(([key, value]) => [snakeCase(key), value]));
}

/** Asks the captcha service. */
async function verify(post: Post, { lotNumber, captchaOutput, passToken, genTime }: ValidateCaptchaInput) {
  const form = new URLSearchParams({
    lot_number: lotNumber,
    captcha_output: captchaOutput,
    pass_token: passToken,
    gen_time: genTime,
    sign_token: createHmac('sha256', 'key_bench').update(lotNumber).digest('hex'),
  });
  const [, json] = await post(`/validate?captcha_id=${'b'.repeat(32)}`, FORM_HEADERS, form.toString());
  // Safe: as above.
  const { result, captcha_args } = json as typeof CAPTCHA_PASS;
  if (result !== 'success') throw new Error('the captcha service gave no pass');
  const { used_type: usedType, user_ip: userIp, lot_number, scene, referer } = captcha_args;
  return {
    __typename: 'CaptchaPassed',
    proceed: true,
    details: { usedType, userIp, lotNumber: lot_number, scene, referer },
  };
}

/** Our schema with the resolvers that anyone would write. It reads `schema/` of the folder that the process runs in. */
export function buildSchema(post: Post) {
  const resolvers = {
    Query: {
      deviceFingerprint: (_root: unknown, args: QueryDeviceFingerprintArgs) => judge(post, args),
    },
    Mutation: {
      validateCaptcha: (_root: unknown, { input }: MutationValidateCaptchaArgs) => verify(post, input),
    },
    DeviceFingerprint: {
      __resolveReference: ({ token }: { token: string }) => judge(post, { token }),
    },
  };
  const files = globSync('schema/*.graphql').sort();
  const typeDefs = parse(files.map((file) => readFileSync(file, 'utf8')).join('\n'));
  // Safe: the types of @apollo/subgraph know parents and arguments as unknown only; these are what the schema says.
  return buildSubgraphSchema([{ typeDefs, resolvers: resolvers as NonNullable<GraphQLSchemaModule['resolvers']> }]);
}
