import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ASTNode, getIntrospectionQuery, Kind, parse, visit as visitNodes } from 'graphql';
import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import catalogue from '../fixtures/signals.json' with { type: 'json' };
import { describeInChromium, visit } from '../support/chromium.ts';
import { ask } from '../support/requests.ts';
import { ORDERS_SERVICE } from './subgraph-headers.ts';
import { startTestShop, type TestShop } from './test-shop.ts';

/** Whatever reaches the browser of a customer, or leaves it, says nothing of what was found out about the device. */

/** Something that was sent or shown: what it is, and its text. */
interface Message {
  readonly what: string;
  readonly text: string;
}

/** What the simulated devices say about themselves. A real token is opaque, so this is left out where a token may stand. */
const SIMULATED = /sandbox:(?:ios|web|android)(?::[A-Z_,]+)?/g;
const SIGNALS = catalogue.map(({ signal }) => signal);
const LEVELS_AND_EFFECTS = ['HIGH', 'MEDIUM', 'LOW', 'RISK', 'DENY', 'ALLOW'];
const DECISION_AND_MORE = `query ($token: String!) { deviceFingerprint(token: $token) { ... on DeviceFingerprint {
  device { id } ipInfo { ip } decision { rule policy } signals { level effect }
} } }`;

describeInChromium('with a clean phone, an emulator and a phone on a blacklist', () => {
  let shop: TestShop;
  /** The request of each order, and everything else. */
  const orders: Request[] = [];
  const messages: Message[] = [];
  /** What the analyst may see of these devices. */
  const secrets: string[] = [];
  const rules: string[] = [];

  beforeAll(async () => {
    shop = await startTestShop();
    const { page } = await visit(shop.browser, 'about:blank');
    const pending: Promise<void>[] = [];
    const keep = (what: string, text: string) => messages.push({ what, text });
    page.on('console', (line) => keep('console', line.text()));
    page.on('request', (request) => pending.push(record(request)));
    async function record(request: Request) {
      const url = request.url();
      const isOrder = request.postData()?.includes('"operationName":"PlaceOrder"') === true;
      if (isOrder) orders.push(request);
      keep(`address of ${url}`, url);
      keep(`headers to ${url}`, JSON.stringify(await request.allHeaders()));
      keep(isOrder ? `order to ${url}` : `body to ${url}`, request.postData() ?? '');
      const response = await request.response();
      if (!response) throw new Error(`expected an answer of ${url}, but got none`);
      keep(`headers of ${url}`, JSON.stringify(await response.allHeaders()));
      // What is kept of a preflight is its headers.
      if (request.method() !== 'OPTIONS') keep(`answer of ${url}`, await response.text());
    }
    await page.goto(shop.page.origin);
    await buy(page, 'A clean phone', 'Thank you, Ada');
    await buy(page, 'An emulator', 'Thank you, Ada');
    await buy(page, 'A phone on a blacklist', "We'll look into it.");
    keep('page', await page.content());
    await Promise.all(pending);

    const introspection = await ask(shop.gateway.url, getIntrospectionQuery({ specifiedByUrl: true }));
    keep('introspection of the gateway', introspection.text);
    const bearer = { authorization: `Bearer ${ORDERS_SERVICE.secret}` };
    for (const token of new Set(orders.map(tokenIn))) {
      const deviceTrust = shop.supergraph.subgraphs['device-trust'] ?? '';
      const { data } = await ask(deviceTrust, DECISION_AND_MORE, { token }, bearer);
      const { device, ipInfo, decision } = data.deviceFingerprint;
      secrets.push(device.id, ipInfo.ip, decision.policy);
      rules.push(decision.rule);
    }
  }, 60_000);
  afterAll(() => shop.stop());

  const tokenIn = (order: Request): string => order.postDataJSON().variables.input.deviceToken;
  /** The messages of which this is a part. */
  const found = (pattern: RegExp | string, among: readonly Message[]) =>
    among.filter(({ text }) => text.search(pattern) !== -1).map(({ what }) => `${what}: ${pattern}`);
  const isOfGateway = ({ what }: Message) =>
    what.endsWith(shop.gateway.url) || what === 'introspection of the gateway' || what === 'console';

  test('all of it was recorded: addresses, headers, bodies, and each answer of the gateway', () => {
    expect(orders).toHaveLength(4);
    const kinds = new Set(messages.map(({ what }) => what.split(' ')[0]));
    expect([...kinds].sort()).toEqual(['address', 'answer', 'body', 'headers', 'introspection', 'order', 'page']);
    const answers = messages.filter(({ what }) => what === `answer of ${shop.gateway.url}`);
    expect(answers.filter(({ text }) => text.includes('OrderPlaced'))).toHaveLength(2);
    expect(answers.filter(({ text }) => text.includes('ChallengeRequired'))).toHaveLength(1);
    expect(answers.filter(({ text }) => text.includes('OrderRefused'))).toHaveLength(1);
    expect(messages.some(({ what, text }) => what.endsWith('.js') && SIMULATED.test(text))).toBe(true);
  });

  test('no signal of the catalogue is in it', () => {
    expect(SIGNALS).toHaveLength(51);
    const withoutTokens = messages.map(({ what, text }) => {
      const mayHoldTokens = what.startsWith('order ') || what.endsWith('.js');
      return { what, text: mayHoldTokens ? text.replaceAll(SIMULATED, '') : text };
    });
    expect(SIGNALS.flatMap((signal) => found(new RegExp(`\\b${signal}\\b`), withoutTokens))).toEqual([]);
  });

  test('the gateway says no level, effect or rule, and nobody says a device id, an address, a policy or a sealed text', () => {
    expect(rules.sort()).toEqual(['listed', 'otherwise', 'serious']);
    const words = [...LEVELS_AND_EFFECTS, ...rules].map((word) => new RegExp(`["\\s:]${word}["\\s,.]`));
    expect(words.flatMap((word) => found(word, messages.filter(isOfGateway)))).toEqual([]);
    expect(new Set(secrets).size).toBe(3 + 2 + 1); // devices, one address for each kind, one policy
    expect(secrets.flatMap((secret) => found(secret, messages))).toEqual([]);
    expect(found(/eyJ[\w-]+(?:\.[\w-]*){4}/, messages)).toEqual([]);
  });

  test('the device token is in the variables of placeOrder, and nowhere else', () => {
    const tokens = orders.map(tokenIn);
    expect(new Set(tokens).size).toBe(3);
    for (const token of tokens) expect(token).toMatch(/^sandbox:(ios|android):?[A-Z_]*#[0-9a-f-]{36}$/);
    for (const order of orders) {
      const { variables, ...rest } = order.postDataJSON();
      const { deviceToken, ...input } = variables.input;
      expect(tokens).toContain(deviceToken);
      expect(JSON.stringify([rest, input])).not.toContain('sandbox:');
    }
    const others = messages.filter(({ what }) => !what.startsWith('order '));
    const suffixes = tokens.map((token) => token.split('#')[1] ?? token);
    expect(suffixes.flatMap((suffix) => found(suffix, others))).toEqual([]);
  });

  describe('the introspection of the gateway', () => {
    test('has no type, field or description that is about judging a device', async () => {
      const { text } = messages.find(({ what }) => what === 'introspection of the gateway') ?? { text: '' };
      expect(text).toContain('"placeOrder"');
      const names = [...text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
      const forbidden = /^(?:Signal\w*|Risk\w*|DeviceJudgement|Device|IpInfo|signal\w*|decision|judgement|sealed)$/;
      expect(names.filter((name) => forbidden.test(name ?? ''))).toEqual([]);
      const descriptions = guardedDescriptions();
      expect(descriptions).toContain('A risk signal that was hit.');
      expect(descriptions.filter((description) => text.includes(JSON.stringify(description)))).toEqual([]);
    });
  });
});

async function buy(page: Page, device: string, outcome: string) {
  await page.getByLabel('Which device buys?').selectOption(device);
  await page.getByRole('button', { name: 'Place order' }).click();
  if (device === 'An emulator') await page.getByRole('button', { name: 'I am a person' }).click();
  await page.getByText(outcome).waitFor();
}

/** The descriptions of what has the tag `risk`, and of the enums of signals, as far as nothing else has the same. */
function guardedDescriptions(): string[] {
  const guarded: string[] = [];
  const open: string[] = [];
  const isGuarded = (node: ASTNode) =>
    ('directives' in node && node.directives?.some(({ name }) => name.value === 'tag')) ||
    (node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value.startsWith('Signal'));
  const collect = (node: ASTNode, into: string[]) => {
    visitNodes(node, {
      enter: (inner) => {
        if (into === open && isGuarded(inner)) {
          collect(inner, guarded);
          return false;
        }
        if ('description' in inner && inner.description) into.push(inner.description.value);
        return undefined;
      },
    });
  };
  const files = ['fingerprint', 'captcha', 'schema'].map((name) =>
    join(import.meta.dirname, `../../schema/${name}.graphql`),
  );
  collect(parse(files.map((file) => readFileSync(file, 'utf8')).join('\n')), open);
  return guarded.filter((description) => !open.includes(description));
}
