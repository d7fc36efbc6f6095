import { Agent, request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { MAIN, ROOT, startCommand } from '../support/process.ts';
import { openConnection } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { LIVE } from './environments.ts';

/** What happens when clients open so many connections that the process can open no more. */

const DESCRIPTORS = 256;
const INPUT = { lotNumber: 'lot-1', captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** Asks over a connection that is there already, as a router's is. */
async function askOver(
  agent: Agent,
  url: string,
  query = CAPTCHA_MUTATION,
): Promise<{ data: unknown; errors?: { extensions: unknown }[] }> {
  const asked = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
  const answered = new Promise<string>((resolve, reject) => {
    asked.on('error', reject).on('response', (response) => text(response).then(resolve, reject));
  });
  asked.end(JSON.stringify({ query, variables: { input: INPUT } }));
  return JSON.parse(await answered);
}

test('no captcha proceeds because there is no socket left to ask the service, and nothing ends', async () => {
  const upstream = await startUpstream((_request, response) => {
    // So that each call needs a socket of its own.
    response.setHeader('connection', 'close');
    sendJson(response, 200, { status: 'success', result: 'fail', reason: 'pass_token expire' });
  });
  onTestFinished(upstream.stop);
  const { PATH = '' } = process.env;
  const script = `ulimit -n ${DESCRIPTORS} && exec "${process.execPath}" ${MAIN}`;
  const env = { PATH, PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '0', ...LIVE, CAPTCHA_URL_EU: upstream.url };
  const child = startCommand(['bash', '--norc', '-c', script], { cwd: ROOT, env });
  onTestFinished(child.stop);
  const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const no = { data: { validateCaptcha: { __typename: 'CaptchaFailed', proceed: false } } };
  // Each document is different, because one that is sent twice would load the compiler, which needs a descriptor.
  let asked = 0;
  const askAnew = () => {
    asked += 1;
    return askOver(agent, graphqlUrl, `${CAPTCHA_MUTATION} # ${asked}`);
  };
  expect(await askAnew()).toMatchObject(no);

  const clients: Socket[] = [];
  onTestFinished(() => clients.forEach((socket) => void socket.destroy()));
  const connectClients = (count: number) => {
    for (let i = 0; i < count; i += 1) {
      clients.push(openConnection(graphqlUrl).socket);
    }
  };
  connectClients(DESCRIPTORS);
  const overloaded = { data: { validateCaptcha: null }, errors: [{ extensions: { code: 'OVERLOADED' } }] };
  const askBesideMore = () => {
    // A call that found a socket just before there was none left gives it back.
    connectClients(1);
    return askAnew();
  };
  await expect.poll(askBesideMore, { timeout: 5_000 }).toMatchObject(overloaded);
  for (let time = 0; time < 3; time += 1) expect(await askOver(agent, graphqlUrl)).toMatchObject(overloaded);
  await expect.poll(child.stdout).toContain('EMFILE');
  await expect.poll(child.stdout).toContain('the compiler could not be loaded');

  for (const socket of clients) socket.destroy();
  await expect.poll(() => askOver(agent, graphqlUrl), { timeout: 5_000 }).toMatchObject(no);
}, 60_000);
