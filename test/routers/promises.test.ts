import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { CROSS_SUBGRAPH_QUERY } from '../supergraph/cross-subgraph-query.ts';
import { ask, json, request, startOperation } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { columns, type Router } from './columns.ts';
import { startGraph } from './graph.ts';
import { bearer, describeIdentity, errorsOf, FORGED, type Headers, JUDGE, T } from './identity.ts';

/** What every router has to keep, through its executable, with its file of `deploy/router/`. */

const graph = await startGraph();
afterAll(() => graph.stop());
beforeEach(() => graph.forget());

const CONTINUES = 'it continues the trace, so the edge has to remove `traceparent`';
/** What a router was seen not to do, by the row. A row that begins to hold fails here, and the sentence goes. */
const LIMITS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Cosmo Router': {
    'a page of another site causes no event, and may read no answer': 'it answers a GET, so the edge has to refuse it',
    'the `traceparent` of a client decides no trace': CONTINUES,
    'an id of the request arrives that is not of the client':
      'it has none that a rule can send, so the trace joins logs',
    'references that cannot be judged are null with a code, and their neighbours whole':
      'it adds an error without a code for each null',
    'a token of another issuer names nobody': 'it does not compare it, so the key set has to be that of one issuer',
  },
  'Hive Router': {
    'the `traceparent` of a client decides no trace': CONTINUES,
    'a token that is not valid yet names nobody': 'it does not read `nbf`',
  },
};

describe.each(columns().map((column) => [column.name, column] as const))('%s', async (name, column) => {
  let router: Router;
  // Not before, because nobody would end it where `-t` picks none of its rows.
  beforeAll(async () => {
    router = await column.start(graph, graph.supergraphSdl);
    return () => router.stop();
  });
  const send = (query: string, variables: object, headers: Headers = {}) =>
    ask(router.url, query, { ...variables }, headers);
  /** The same where an edge may answer, which says nothing in GraphQL. */
  const raw = (query: string, headers: Headers) =>
    request(router.url, json(JSON.stringify({ query, variables: T }), headers));
  const analyst = bearer(await graph.token());
  const customer = bearer(await graph.token({ scope: 'orders' }));
  /** A promise, or where the router was seen not to keep it, what is seen instead. */
  const row = (title: string, run: () => Promise<void>) => {
    const limit = LIMITS[name]?.[title];
    if (limit === undefined) test(title, run);
    else test.fails(`${title}: ${limit}`, run);
  };

  // No plan decides these.
  if (!column.hasOtherPlanner) {
    describeIdentity({ ...{ graph, column, row, send, raw, analyst, customer }, router: () => router });
    describeStarts();
  }

  for (const [what, how] of [
    ['a connection that breaks', 'isBroken'],
    // The planner has no part in this, and it takes 10 s.
    ...(column.hasOtherPlanner ? [] : [['a subgraph that never answers', 'isSilent'] as const]),
  ] as const)
    row(`${what} is tried once, and its error shows no address, no query and no token`, async () => {
      graph.way[how] = true;
      const { text } = await send(JUDGE, { t: 'sandbox:ios#of-a-person' }, analyst);
      expect(graph.received).toHaveLength(1);
      const secrets = ['of-a-person', '__typename', graph.secret];
      for (const url of Object.values(graph.addresses)) secrets.push(new URL(url).port);
      for (const secret of secrets) expect(text).not.toContain(secret);
    });

  row('a 503 is not repeated', async () => {
    graph.way.status = 503;
    await send(JUDGE, T, analyst);
    expect(graph.received).toHaveLength(1);
  });

  row('our time-out is seen before that of the router, and is one event', async () => {
    const timedOut = async () => {
      graph.forget();
      const [error] = errorsOf(await send(JUDGE, { t: `sandbox:delay:20000:ios#${randomUUID()}` }, analyst));
      // Beside busy neighbours, our process may have been late itself.
      return error?.extensions.code !== 'OVERLOADED' && error;
    };
    const error = await vi.waitUntil(timedOut, { timeout: 60_000 });
    expect(error).toMatchObject({ extensions: { code: 'UPSTREAM_TIMEOUT', retryable: true } });
    expect([graph.received.length, graph.events()]).toEqual([1, 1]);
  });

  row('equal questions of two people at the same time are two events', async () => {
    const t = { t: 'sandbox:delay:300:ios' };
    const people = await Promise.all(['user-1', 'user-2'].map(async (sub) => bearer(await graph.token({ sub }))));
    await Promise.all([...people, ...people].map((person) => send(JUDGE, t, person)));
    expect(graph.events()).toBe(4);
    const ids = graph.asked.map(({ body }) => JSON.parse(body).metadata.account_id);
    expect(ids.sort()).toEqual(['user-1', 'user-1', 'user-2', 'user-2']);
  });

  row('a client that leaves cancels the call', async () => {
    const leave = startOperation(
      router.url,
      { query: JUDGE, variables: { t: 'sandbox:delay:2000:ios' } },
      { ...analyst },
    );
    await expect.poll(() => graph.events()).toBe(1);
    leave();
    await expect.poll(() => graph.way.left, { timeout: 1_500 }).toBe(1);
  });

  row('references that cannot be judged are null with a code, and their neighbours whole', async () => {
    const answered = await send(
      '{ user(id: "user-3") { sessions { deviceFingerprint { clientType } } } }',
      {},
      analyst,
    );
    const sessions = [{ clientType: 'ANDROID' }, null, null].map((deviceFingerprint) => ({ deviceFingerprint }));
    expect(answered.data.user).toEqual({ sessions });
    const errors = errorsOf(answered).map(({ extensions: { code, retryable } }) => ({ code, retryable }));
    expect(new Set(errors)).toEqual(
      new Set([
        { code: 'DEVICE_TOKEN_REJECTED', retryable: false },
        { code: 'UPSTREAM_UNAVAILABLE', retryable: true },
      ]),
    );
    expect(answered.text).not.toContain('not-a-token');
  });

  // Hive Gateway's runtime for Node asks for the device once more before it goes on to another subgraph. That is an event of
  // its own, so schema/README.md says how to avoid it.
  if (name.startsWith('Hive Gateway'))
    test.each([
      ['id', 1],
      ['id orders { id }', name === 'Hive Gateway' ? 2 : 1],
    ])('a fresh judgement with the device { %s } makes %d events', async (device, events) => {
      const judgement = `judgement { eventId device { ${device} } }`;
      expect((await send(JUDGE.replace('clientType', judgement), T, analyst)).errors).toBeUndefined();
      expect(graph.events()).toBe(events);
    });

  row('a stored judgement opens, and orders of its device follow, without an event', async () => {
    const { data, errors } = await send(CROSS_SUBGRAPH_QUERY, {}, analyst);
    expect(errors).toBeUndefined();
    const [order] = data.user.orders;
    expect(order.judgement.device.orders).toEqual(expect.arrayContaining([expect.objectContaining({ id: order.id })]));
    expect(graph.events()).toBe(0);
  });

  row('aliases and fragments on both unions and on the interface work', async () => {
    const query = `query ($t: String!) {
      phone: deviceFingerprint(token: $t) { ...Device ... on DeviceFingerprintRejected { reason } }
      page: deviceFingerprint(token: "sandbox:web") { ...Device ... on DeviceFingerprintRejected { reason } }
      none: deviceFingerprint(token: "made-up") { ...Device ... on DeviceFingerprintRejected { reason } }
      user(id: "user-1") { orders { judgement { ...Device } } }
    }
    fragment Device on DeviceAssessment {
      kind: clientType basic: deviceBasic { ... on Mobile { model system: os { name } } ... on Web { browser { name } } }
    }`;
    const { data } = await send(query, T, analyst);
    const phone = { kind: 'IOS', basic: { model: 'iPhone16,1', system: { name: 'iOS' } } };
    expect(data).toEqual({
      phone,
      page: { kind: 'WEB_H5', basic: { browser: { name: 'Chrome' } } },
      none: { reason: 'INVALID_TOKEN' },
      user: { orders: expect.arrayContaining([{ judgement: phone }]) },
    });
  });

  for (const part of [
    '... @defer(label: "a") { signals { code } } ... @defer(label: "b") { judgement { eventType } }',
    'judgement { eventType } signals @stream(initialCount: 0) { code }',
  ])
    row(`with ${part.match(/@\w+/)} a device is refused, or judged once for its event`, async () => {
      const query = JUDGE.replace(/t\)(.*)clientType.*/, `t, eventType: "checkout")$1${part} } } }`);
      const { text } = await raw(query, { ...analyst, accept: 'multipart/mixed;deferSpec=20220824, application/json' });
      if (graph.events() === 0) expect(text).toContain('"errors"');
      else expect([graph.events(), text]).toEqual([1, expect.stringContaining('"eventType":"checkout"')]);
    });

  row('an order that needs a captcha of its person is placed, and one of nobody is not', async () => {
    const captcha = { ...(await graph.solve()), audience: 'orders', action: 'placeOrder' };
    const verify = 'mutation ($captcha: ValidateCaptchaInput!) { validateCaptcha(input: $captcha) { attestation } }';
    const { attestation } = (await send(verify, { captcha }, customer)).data.validateCaptcha;
    const order = { checkoutId: randomUUID(), item: 'Pen', deviceToken: 'sandbox:android:EMULATOR', attestation };
    const place = 'mutation ($order: PlaceOrderInput!) { placeOrder(input: $order) { __typename } }';
    for (const url of [router.url, router.pastEdge ?? router.url])
      expect((await ask(url, place, { order }, FORGED)).data?.placeOrder ?? null).toBeNull();
    expect((await send(place, { order }, customer)).data.placeOrder).toEqual({ __typename: 'OrderPlaced' });
  });

  row('a captcha is verified before the order that follows it in the same operation', async () => {
    const captcha = await graph.solve();
    const order = { checkoutId: randomUUID(), item: 'Pen', deviceToken: `sandbox:ios#${randomUUID()}` };
    graph.done.length = 0;
    const { data } = await send(
      `mutation ($captcha: ValidateCaptchaInput!, $order: PlaceOrderInput!) {
        validateCaptcha(input: $captcha) { __typename proceed } placeOrder(input: $order) { __typename }
      }`,
      { captcha, order },
      analyst,
    );
    expect(data).toEqual({
      validateCaptcha: { __typename: 'CaptchaPassed', proceed: true },
      placeOrder: { __typename: 'OrderPlaced' },
    });
    expect(graph.done).toEqual(['captcha verified', 'order placed']);
  });

  const [, estimate] = readPage('deploy/router/README.md').text.match(`(\\d+) \\(${name}\\)`) ?? [];
  if (estimate !== undefined)
    test('the demand control of a router estimates what its page says', async () => {
      const { headers, text } = await send(CROSS_SUBGRAPH_QUERY, {}, analyst);
      const shown = headers.get('x-cost-estimated') ?? headers.get('x-wg-cost-estimated');
      expect(shown ?? `${JSON.parse(text).extensions.cost.estimated}`).toBe(estimate);
    });

  if (name !== 'Cosmo Router')
    row('the variant for browsers has a device, and no risk', async () => {
      const shop = await untilEnd(column.start(graph, graph.shopSdl));
      const [device, ...asked] = await Promise.all(
        [JUDGE.replace('signals { code }', ''), JUDGE, '{ signalCatalogue { code } }'].map((query) =>
          ask(shop.url, query, T, analyst),
        ),
      );
      expect(device?.data.deviceFingerprint).toEqual({ __typename: 'DeviceFingerprint', clientType: 'IOS' });
      for (const { data } of asked) expect(data ?? null).toBeNull();
      expect(graph.events()).toBe(1);
    });

  function describeStarts(): void {
    row('with another secret everything is refused, and no client is told which', async () => {
      const wrong = await untilEnd(
        column.start(graph, graph.supergraphSdl, { secret: 'another-secret-of-the-router' }),
      );
      const { text } = await ask(wrong.url, JUDGE, T, analyst);
      expect(text).not.toContain('clientType":');
      expect(text).not.toContain('another-secret');
    });

    // Tried again, because both replicas and Hive Gateway share a process, which a busy machine stalls.
    test('a rolling restart of two replicas loses no request', { retry: 2 }, async () => {
      const replicas = await untilEnd(graph.startReplicas());
      const behind = await untilEnd(column.start(graph, graph.supergraphSdl, { ours: replicas.url }));
      const answers: string[] = [];
      let isOver = false;
      const restarted = replicas.restart().finally(() => {
        isOver = true;
      });
      // No more at once than a busy machine can answer within the time-outs.
      const asking = times(4, async () => {
        while (!isOver) {
          answers.push(await ask(behind.url, JUDGE, T, analyst).then(({ text }) => text, String));
          await pause(50);
        }
      });
      await Promise.all([restarted, ...asking]);
      expect(new Set(answers)).toEqual(new Set([(await send(JUDGE, T, analyst)).text]));
      expect(answers.length).toBeGreaterThan(40);
    });
  }
});
