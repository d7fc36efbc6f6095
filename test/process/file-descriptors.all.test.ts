import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION } from '../support/graphql.ts';
import { MAIN, ROOT, startCommand } from '../support/process.ts';
import { type Connection, openConnection } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { LIVE } from './environments.ts';

/** What happens when clients open so many connections that the process can open no more. */

const DESCRIPTORS = 256;

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
  asked.end(JSON.stringify({ query, variables: { input: CAPTCHA_INPUT } }));
  return JSON.parse(await answered);
}

const FAILED = { data: { validateCaptcha: { __typename: 'CaptchaFailed', proceed: false } } };
const OVERLOADED = { data: { validateCaptcha: null }, errors: [{ extensions: { code: 'OVERLOADED' } }] };

/** The process with few descriptors, and a captcha service at this host that answers "fail". */
async function start(host: string) {
  const upstream = await startUpstream((_request, response) => {
    // So that each call needs a socket of its own.
    response.setHeader('connection', 'close');
    sendJson(response, 200, { status: 'success', result: 'fail', reason: 'pass_token expire' });
  });
  onTestFinished(upstream.stop);
  const { PATH = '' } = process.env;
  const script = `ulimit -n ${DESCRIPTORS} && exec "${process.execPath}" ${MAIN}`;
  const env = {
    PATH,
    ADMIN_PORT: '0',
    ...LIVE,
    CAPTCHA_URL_EU: upstream.url.replace('127.0.0.1', host),
  };
  const child = startCommand(['bash', '--norc', '-c', script], { cwd: ROOT, env });
  onTestFinished(child.stop);
  const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  // Each document is different, so that Apollo Server executes it.
  let asked = 0;
  const askAnew = () => {
    asked += 1;
    return askOver(agent, graphqlUrl, `${CAPTCHA_MUTATION} # ${asked}`);
  };
  const clients: Connection[] = [];
  const disconnectClients = () => clients.forEach(({ socket }) => void socket.destroy());
  onTestFinished(disconnectClients);
  const connectClients = (count: number) => {
    for (let i = 0; i < count; i += 1) clients.push(openConnection(graphqlUrl));
  };
  const askBesideMore = () => {
    // A call that found a socket just before there was none left gives it back.
    connectClients(1);
    return askAnew();
  };
  /** Opens the connection of this test and takes every descriptor. No call is made, so no name is looked up. */
  const exhaust = async () => {
    await askOver(agent, graphqlUrl, '{ __typename }');
    connectClients(DESCRIPTORS);
    // A client for whom there is no descriptor is disconnected.
    await Promise.race(clients.map(({ closed }) => closed));
  };
  const ask = () => askOver(agent, graphqlUrl);
  return { child, ask, exhaust, askAnew, askBesideMore, connectClients, disconnectClients };
}

test('no captcha proceeds because there is no socket left to ask the service, and nothing ends', async () => {
  const { child, ask, askAnew, askBesideMore, connectClients, disconnectClients } = await start('127.0.0.1');
  expect(await askAnew()).toMatchObject(FAILED);
  connectClients(DESCRIPTORS);
  await expect.poll(askBesideMore).toMatchObject(OVERLOADED);
  for (let time = 0; time < 3; time += 1) expect(await ask()).toMatchObject(OVERLOADED);
  await expect.poll(child.stdout).toContain('EMFILE');

  disconnectClients();
  await expect.poll(ask).toMatchObject(FAILED);
});

test('no captcha proceeds because there is no descriptor left to look up the name of the service', async () => {
  const { child, exhaust, askAnew, askBesideMore, disconnectClients } = await start('localhost');
  await exhaust();
  const answers: unknown[] = [];
  for (let captcha = 0; captcha < 30; captcha += 1) answers.push(await askBesideMore());
  expect(answers).toMatchObject(Array(30).fill(OVERLOADED));
  await expect.poll(child.stdout).toMatch(/look-up E/);

  disconnectClients();
  await expect.poll(askAnew).toMatchObject(FAILED);
});
