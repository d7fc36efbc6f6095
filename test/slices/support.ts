import { createApp } from '../../src/app.ts';
import { parseConfig } from '../../src/settings/variables.ts';
import { SLICES } from '../../src/slices.ts';
import { keepLog, PATIENT } from '../support/app.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { scoreSlice } from './score.ts';

/** A score service, and apps whose list of slices has one line more. */

type Texts = Readonly<Record<string, string>>;

const ALL = [...SLICES, scoreSlice];
const SECRET = 'the-secret-of-the-score';
const isProbe = ({ body }: ReceivedRequest) => body === '{"person":""}';

/** A score service that accepts one secret. */
export async function startService() {
  const upstream = await untilEnd(
    startUpstream((request, response) => {
      if (request.headers.authorization !== `Bearer ${SECRET}`) return sendJson(response, 401, {});
      sendJson(response, isProbe(request) ? 400 : 200, { score: request.body.includes('mallory') ? 0.95 : 0.25 });
    }),
  );
  return { ...upstream, calls: () => upstream.received.filter((request) => !isProbe(request)) };
}

export const envOf = (url: string, more: Texts = {}): Texts => ({
  SCORE_ACCOUNTS: JSON.stringify([{ id: 'shop', secret: SECRET }]),
  SCORE_URL: url,
  ALLOW_DIRECT_ACCESS: 'true',
  PORT: '0',
  ADMIN_PORT: '0',
  SHUTDOWN_GRACE_MS: '0',
  ...more,
});

export const parse = (env: Texts) => parseConfig(env, () => '', ALL);

export async function start(env: Texts) {
  const { log, logged } = keepLog();
  const config = parse(env);
  const app = await untilEnd(createApp(config, log, { slices: ALL, maxDelayMs: PATIENT }));
  const scoreOf = (person: string) =>
    ask(app.graphqlUrl, 'query ($person: ID!) { score(person: $person) }', { person });
  const codesOf = async () => (await scoreOf('ada')).errors?.map(({ extensions }) => extensions.code);
  return { ...app, config, scoreOf, codesOf, logged };
}
