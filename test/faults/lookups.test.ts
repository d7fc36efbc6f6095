import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** A resolver that is slow or fails. A captcha must not proceed for that, or a bot would only have to keep it busy. */

const CAPTCHA_CALLS = 20;
const HOST = 'upstream.example';
const FAILED = { validateCaptcha: { __typename: 'CaptchaFailed', proceed: false } };
const OVERLOADED = [{ extensions: { code: 'OVERLOADED' } }];

/** How the resolver of this process answers for the upstream: a look-up takes `ms`, and two are worked on at a time, as libuv does it. */
const resolver = { ms: 0, code: undefined as string | undefined, lookups: 0 };

function replaceLookup(): void {
  const { lookup } = dns;
  const queue: (() => void)[] = [];
  let busy = 0;
  const work = () => {
    const next = busy < 2 ? queue.shift() : undefined;
    if (!next) return;
    busy += 1;
    setTimeout(() => {
      busy -= 1;
      next();
      work();
    }, resolver.ms);
  };
  const fake = (hostname: string, options: dns.LookupAllOptions, done: (...result: unknown[]) => void) => {
    if (hostname !== HOST) return void Reflect.apply(lookup, dns, [hostname, options, done]);
    resolver.lookups += 1;
    queue.push(() => {
      const { code } = resolver;
      if (code !== undefined) done(Object.assign(new Error('look-up'), { code }));
      else if (options.all) done(null, [{ address: '127.0.0.1', family: 4 }]);
      else done(null, '127.0.0.1', 4);
    });
    work();
  };
  // Sound: it takes the two forms that this process uses.
  dns.lookup = fake as unknown as typeof dns.lookup;
  syncBuiltinESMExports();
  onTestFinished(() => {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  });
}

beforeEach(() => void Object.assign(resolver, { ms: 0, code: undefined, lookups: 0 }));

/** The app, with an upstream by name that answers every captcha with "fail". */
async function start() {
  replaceLookup();
  const upstream = await startUpstream(({ url }, response) => {
    if (url.startsWith('/validate')) sendJson(response, 200, { status: 'success', result: 'fail', reason: 'expired' });
    else sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} });
  });
  onTestFinished(upstream.stop);
  const url = upstream.url.replace('127.0.0.1', HOST);
  const app = await startInLiveMode({ GLB: url, NA: url, EU: url }, { captchaTimeoutMs: 10_000 });
  onTestFinished(app.stop);
  const input = { lotNumber: 'lot-1', captchaOutput: 'o', passToken: 'p', genTime: '1' };
  return {
    app,
    askForDevices: (request: number) => {
      const representations = Array.from({ length: 100 }, (_, i) => ({
        __typename: 'DeviceFingerprint',
        token: `token-${request}-${i}`,
      }));
      return ask(app.graphqlUrl, ENTITIES_QUERY, { representations });
    },
    askForVerdicts: () =>
      Promise.all(Array.from({ length: CAPTCHA_CALLS }, () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input }))),
  };
}

describe('20 bogus captchas', () => {
  test('fail beside 1,100 fingerprint calls that all need a socket, when a look-up takes 20 ms', async () => {
    resolver.ms = 20;
    const { askForDevices, askForVerdicts } = await start();
    const devices = Array.from({ length: 11 }, (_, request) => askForDevices(request));
    const verdicts = await askForVerdicts();
    expect(verdicts.map(({ data }) => data)).toMatchObject(Array(CAPTCHA_CALLS).fill(FAILED));
    await Promise.all(devices);
    // One for all sockets of both services.
    expect(resolver.lookups).toBe(1);
  }, 30_000);

  test.each(['EAI_AGAIN', 'EBUSY', 'EMFILE'])('get no verdict when each look-up fails with %s', async (code) => {
    resolver.code = code;
    const { app, askForVerdicts } = await start();
    for (const { data, errors } of await askForVerdicts()) {
      expect([data, errors]).toMatchObject([{ validateCaptcha: null }, OVERLOADED]);
    }
    // The probes get no address either, and that is no outage.
    expect(app.logged()).not.toContain('"health":"outage"');
    resolver.code = undefined;
    expect((await askForVerdicts()).map(({ data }) => data)).toMatchObject(Array(CAPTCHA_CALLS).fill(FAILED));
  });

  test('get no verdict when the look-up takes longer than anybody waits', async () => {
    resolver.ms = 4_000;
    const { app, askForVerdicts } = await start();
    for (const { data, errors } of await askForVerdicts()) {
      expect([data, errors]).toMatchObject([{ validateCaptcha: null }, OVERLOADED]);
    }
    expect(app.logged()).not.toContain('"health":"outage"');
  });
});
