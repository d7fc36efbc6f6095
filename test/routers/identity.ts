import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'vitest';
import { ask, type GraphqlAnswer, type HttpAnswer, request } from '../support/requests.ts';
import type { Column, Router } from './columns.ts';
import { type Graph, unsigned } from './graph.ts';

/** Who asks, through a router: what it says about the person, and what no client can say about itself. */

export const JUDGE =
  'query ($t: String!) { deviceFingerprint(token: $t) { __typename ... on DeviceFingerprint { clientType signals { code } } } }';
export const T = { t: 'sandbox:ios' };
export type Headers = Readonly<Record<string, string>>;
export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** The errors that a client finds: Cosmo has those of a subgraph below its own. */
// biome-ignore lint/suspicious/noExplicitAny: an error has what its router gives it.
export const errorsOf = ({ errors = [] }: { errors?: readonly any[] | undefined }): any[] =>
  errors.flatMap((error) => error.extensions?.errors ?? [error]);

/** What a client may say about itself. */
export const FORGED = {
  'router-authorization': 'forged',
  'x-user-id': 'user-9',
  'x-user-scopes': 'risk:read',
  'x-edge-secret': 'of-no-edge',
  'x-request-id': 'chosen-by-the-client',
  cookie: 'session=1',
};

/** A router with what its rows need. */
interface Tried {
  readonly graph: Graph;
  readonly column: Column;
  readonly router: () => Router;
  /** A promise. */
  readonly row: (title: string, run: () => Promise<void>) => void;
  readonly send: (query: string, variables: object, headers?: Headers) => Promise<GraphqlAnswer>;
  readonly raw: (query: string, headers: Headers) => Promise<HttpAnswer>;
  readonly analyst: Headers;
  readonly customer: Headers;
}

export function describeIdentity({ graph, column, router, row, send, raw, analyst, customer }: Tried): void {
  const headersSeen = () => graph.received[0]?.headers ?? {};
  const textOf = (header: string) => `${headersSeen()[header] ?? ''}`.trim();

  row('the secret arrives, and no client is shown it', async () => {
    const { text, headers } = await send(JUDGE, T, analyst);
    expect(headersSeen()['router-authorization']).toBe(graph.secret);
    expect(text + JSON.stringify([...headers]) + router().logged()).not.toContain(graph.secret);
  });

  row('nothing that a client says about itself arrives, past the edge either', async () => {
    for (const url of [router().url, router().pastEdge ?? router().url]) {
      const { data } = await ask(url, JUDGE, T, FORGED);
      expect(data.deviceFingerprint).toEqual({ __typename: 'DeviceFingerprint', clientType: 'IOS', signals: null });
    }
    const seen = JSON.stringify(graph.received);
    for (const value of ['forged', 'user-9', 'risk:read', 'chosen-by', 'session=1']) expect(seen).not.toContain(value);
    if (column.hasEdge) expect(seen).not.toContain('x-edge-secret');
  });

  const [TRACE, SPAN] = ['a'.repeat(32), 'b'.repeat(16)];
  const traces = {
    traceparent: `00-${TRACE}-${SPAN}-01`,
    b3: `${TRACE}-${SPAN}-1`,
    'uber-trace-id': `${TRACE}:${SPAN}:0:1`,
  };
  for (const [header, trace] of Object.entries(traces))
    row(`the \`${header}\` of a client decides no trace`, async () => {
      await send(JUDGE, T, { [header]: trace });
      expect(textOf('traceparent')).not.toContain(TRACE);
    });

  row('an id of the request arrives that is not of the client', async () => {
    await send(JUDGE, T, { 'x-request-id': 'chosen-by-the-client' });
    expect(textOf('x-request-id')).toMatch(/^[0-9a-f-]{32,36}$/);
  });

  row('what the edge knows of the client arrives', async () => {
    await send(JUDGE, T, { ...analyst, 'x-client-ip': '203.0.113.9' });
    const ip = column.hasEdge ? '127.0.0.1' : '203.0.113.9';
    expect(headersSeen()['x-client-ip']).toBe(ip);
    expect(JSON.parse(graph.asked[0]?.body ?? '').metadata).toEqual({ account_id: 'user-1', ip_addr_v4: ip });
  });

  row('person and scopes of a verified token arrive, and the token does not', async () => {
    const { data, errors } = await send(JUDGE, T, analyst);
    expect([data.deviceFingerprint.signals, errors]).toEqual([[], undefined]);
    expect(headersSeen()).toMatchObject({ 'x-user-id': 'user-1', 'x-user-scopes': 'risk:read' });
    expect(textOf('authorization')).toBe('');
  });

  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const now = Math.floor(Date.now() / 1_000);
  const tokens: readonly [string, () => Promise<string>][] = [
    ['that has expired', () => graph.token({ exp: now - 120 })],
    ['that is not valid yet', () => graph.token({ nbf: now + 120 })],
    ['whose end is a text', () => graph.token({ exp: `${now + 3_600}` })],
    ['whose beginning is a text', () => graph.token({ nbf: `${now - 60}` })],
    ['of another key', () => graph.token({}, other)],
    ['without a signature', async () => unsigned(await graph.token())],
    ['of another audience', () => graph.token({ aud: 'elsewhere' })],
    ['of another issuer', () => graph.token({ iss: 'https://elsewhere.example/' })],
    ['that is none', async () => 'made-up'],
  ];
  for (const [what, tokenOf] of tokens)
    row(`a token ${what} names nobody`, async () => {
      const { status, text } = await raw(JUDGE, bearer(await tokenOf()));
      // A router or its edge refuses it, or asks us for nobody.
      if (graph.received.length === 0) expect([200, 401, 403]).toContain(status);
      else expect([textOf('x-user-id'), textOf('x-user-scopes')]).toEqual(['', '']);
      expect(text).not.toContain('"signals":[');
    });

  row('a person who is a number is that one or nobody', async () => {
    await raw(JUDGE, bearer(await graph.token({ sub: 1_234_567 })));
    expect(['', '1234567']).toContain(textOf('x-user-id'));
  });

  row('two tokens name nobody', async () => {
    const both = `${analyst['authorization']}, ${customer['authorization']}`;
    const { text } = await raw(JUDGE, { authorization: both });
    expect(text).not.toContain('"signals":[');
  });

  row('without the scope risk is null with FORBIDDEN, and the rest is whole', async () => {
    const answered = await send(JUDGE, T, customer);
    expect(answered.data.deviceFingerprint).toEqual({
      __typename: 'DeviceFingerprint',
      clientType: 'IOS',
      signals: null,
    });
    expect(errorsOf(answered)).toMatchObject([{ extensions: { code: 'FORBIDDEN', retryable: false } }]);
    expect(errorsOf(answered)[0].message).toContain('risk:read');
  });

  row('a page of another site causes no event, and may read no answer', async () => {
    const origin = 'https://evil.example';
    const query = '{ deviceFingerprint(token: "sandbox:ios") { __typename } }';
    const [body, form] = [JSON.stringify({ query }), `query=${encodeURIComponent(query)}`];
    const parts = `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${body}\r\n--x--\r\n`;
    // What a browser sends without a preflight. A GET has no origin.
    await request(`${router().url}?${form}`, { headers: { accept: '*/*', 'sec-fetch-site': 'cross-site' } });
    for (const [type, text] of [
      ['text/plain', body],
      ['application/x-www-form-urlencoded', form],
      ['multipart/form-data; boundary=x', parts],
    ])
      await request(router().url, { method: 'POST', headers: { origin, 'content-type': `${type}` }, body: `${text}` });
    expect(graph.events()).toBe(0);
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    const { headers } = await request(router().url, { method: 'OPTIONS', headers: { origin, ...asked } });
    expect([origin, '*']).not.toContain(headers.get('access-control-allow-origin'));
  });
}
