import { buildSchema, getNamedType, isAbstractType, isObjectType } from 'graphql';
import { vi } from 'vitest';
import { clientSdl } from '../../codegen.ts';
import { SLICES } from '../../src/slices.ts';
import { startInLiveMode, startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import { sealedJudgements } from '../support/judgements.ts';
import { ask, type GraphqlAnswer, post } from '../support/requests.ts';
import { passOnTo, sendJson, startUpstream } from '../support/upstream.ts';
import { startSubgraph } from './capabilities.ts';

/** Everything that the subgraph can answer, each outcome asked over HTTP: `fixtures.contract.test.ts` writes them down. */

/** The graph of services, without resolvers. */
export const SCHEMA = buildSchema(clientSdl(SLICES));

/** Every field of a type and below, with `__typename` as clients add it. The token is a credential, and not in the public graph. */
function everythingOf(name: string): string {
  const type = SCHEMA.getType(name);
  if (isAbstractType(type)) {
    const parts = SCHEMA.getPossibleTypes(type).map((one) => `... on ${one.name} ${everythingOf(one.name)}`);
    return `{ __typename ${parts.join(' ')} }`;
  }
  if (!isObjectType(type)) return '';
  const fields = Object.values(type.getFields()).filter((field) => field.name !== 'token');
  const parts = fields.map((field) => `${field.name} ${everythingOf(getNamedType(field.type).name)}`);
  return `{ __typename ${parts.join(' ')} }`;
}

/** An operation for each field of `Query` and `Mutation`, with everything below it. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  deviceFingerprint: `query ($token: String!, $eventType: String, $publicKey: ID) {
    deviceFingerprint(token: $token, eventType: $eventType, publicKey: $publicKey)
      ${everythingOf('DeviceFingerprintResult')}
  }`,
  signalCatalogue: `{ signalCatalogue ${everythingOf('SignalDefinition')} }`,
  validateCaptcha: `mutation ($input: ValidateCaptchaInput!) {
    validateCaptcha(input: $input) ${everythingOf('CaptchaValidation')}
  }`,
  _entities: `query ($representations: [_Any!]!) {
    _entities(representations: $representations) { __typename ... on DeviceJudgement ${everythingOf('DeviceJudgement')} }
  }`,
};

/** An upstream's answer without what it may leave out, and with a key that its document does not list. */
const withoutDetails = (answer: string) => {
  const free = new Map([
    ['browser', {}],
    ['device', { type: 'desktop' }],
    ['os', {}],
  ]);
  const alter = (key: string, value: unknown) =>
    key === 'captcha_args' ? { lot_number: Object(value).lot_number } : (free.get(key) ?? value);
  return JSON.stringify(JSON.parse(answer, alter));
};
const BAD_TIME = JSON.stringify({ device_token: 'sandbox:web', event_time: 'noon' });

const PERSON = { 'x-user-id': 'user-1' };
const ANALYST = { ...PERSON, 'x-user-scopes': 'risk:read' };
const ROUTER = { 'router-authorization': 'secret-of-the-router' };
const AUDIENCE = { audience: 'orders', action: 'placeOrder' };
const VALUES = { captchaOutput: 'output', passToken: 'token', genTime: '1772353800' };

/** Starts the subgraph and its upstreams, and gives each outcome with its name, in the order in which to ask. */
export async function startOutcomes() {
  const trustedHeaders = { subject: 'x-user-id', scopes: 'x-user-scopes' };
  const app = await startInSandboxMode({ trustedHeaders, fingerprintTimeoutMs: 3_000 });
  const sandboxes = Object.values(app.sandboxUrls ?? {});
  const [glb = ''] = sandboxes;
  const proxy = await startUpstream((request, response) => {
    if (request.body.includes('without a document')) return sendJson(response, 200, {});
    if (request.body.includes('with a bad time')) return passOnTo(glb)({ ...request, body: BAD_TIME }, response);
    return passOnTo(glb, withoutDetails)(request, response);
  });
  const old = sealedJudgements()[1];
  const bare = await startInLiveMode(proxy.url, { sealingKeys: old ? [old.key] : [] });
  const ofRouter = { routerSecrets: [ROUTER['router-authorization']] };
  const limited = await startInLiveMode(glb, { fingerprintQuota: { perDay: 1 }, ...ofRouter });
  const hurried = await startInLiveMode(glb, {
    fingerprintQuota: { perMinuteOfPerson: 1 },
    ...ofRouter,
    trustedHeaders,
  });
  const broken = await startSubgraph();
  const overloaded = await startSubgraph({ eventLoop: { isOverloaded: () => true, watch: () => () => {} } });

  const send = (field: string, variables: object, { graphqlUrl } = app, headers: Record<string, string> = ANALYST) =>
    ask(graphqlUrl, DOCUMENTS[field] ?? '', { ...variables }, headers);
  const device = (token: string, { ...others } = {}, ...at: [typeof app?, Record<string, string>?]) =>
    send('deviceFingerprint', { token, ...others }, ...at);
  const captcha = (input: object, ...at: [typeof app?]) => send('validateCaptcha', { input }, ...at);
  const forced = (lotNumber: string) => captcha({ lotNumber, ...VALUES, ...AUDIENCE });
  const open = (sealed: string | undefined, ...at: [typeof app?]) =>
    send('_entities', { representations: [{ __typename: 'DeviceJudgement', sealed }] }, ...at);
  const document = (query: string, more = {}) => post(app.graphqlUrl, JSON.stringify({ query, ...more }), ANALYST);
  const setFault = (form: Record<string, string>) =>
    Promise.all(
      sandboxes.map((url) =>
        fetch(`${url}/sandbox/faults`, { method: 'POST', body: new URLSearchParams({ service: 'captcha', ...form }) }),
      ),
    );

  const outcomes: Record<string, () => Promise<GraphqlAnswer>> = {
    'captcha-passed': async () => captcha({ ...(await solveChallenge(glb)), ...AUDIENCE }),
    'captcha-passed-without-audience': async () => captcha(await solveChallenge(glb)),
    'captcha-passed-without-details': async () => captcha(await solveChallenge(proxy.url), bare),
    'captcha-failed-pass-token-expired': () => forced('sandbox:fail:pass_token expire'),
    'captcha-failed-lot-number-mismatch': () => forced('sandbox:fail:lot_number not match'),
    'captcha-failed-illegal-sign-token': () => forced('sandbox:fail:illegal sign_token'),
    'captcha-failed-other': () => forced('sandbox:fail:a newer reason'),
    'captcha-failed-without-details': () => captcha({ ...VALUES, lotNumber: 'sandbox:fail:pass_token expire' }, bare),
    'captcha-indeterminate-client': () => forced('sandbox:exception:-50003'),
    'captcha-indeterminate-configuration': () => forced('sandbox:exception:-50104'),
    'captcha-indeterminate-service': () => forced('sandbox:exception:-50000'),
    'captcha-indeterminate-transport': async () => {
      await setFault({ down: 'true' });
      return forced('any');
    },
    'captcha-indeterminate-proceed': async () => {
      const proceeding = async () => {
        const answer = await forced('any');
        return answer.data.validateCaptcha.proceed && answer;
      };
      const answer = await vi.waitUntil(proceeding, { timeout: 30_000 });
      await setFault({ seconds: '0' });
      return answer;
    },
    'device-fingerprint-allow': () => device('sandbox:ios', {}, app, { 'x-user-scopes': 'risk:read' }),
    'device-fingerprint-challenge': () => device('sandbox:web:ANTIDETECT_BROWSER,VPN_ENABLED', { eventType: 'login' }),
    'device-fingerprint-deny': () =>
      device('sandbox:android:WHITELIST_DEVICE_FINGERPRINT,EMULATOR', { eventType: 'checkout' }),
    'device-fingerprint-newer-values': () => device('sandbox:car:NEWER_SIGNAL,NEWER_LEVEL'),
    'device-fingerprint-without-details': () => device('sandbox:web', {}, bare),
    'device-fingerprint-rejected-invalid-token': () => device('made-up'),
    'device-fingerprint-rejected-invalid-input': () => device('with a bad time', {}, bare),
    'device-judgement': async () => {
      const { data } = await device('sandbox:web:VPN_ENABLED', { eventType: 'checkout' });
      return open(data.deviceFingerprint.judgement.sealed);
    },
    'device-judgement-without-decision': () => open(old?.sealed, bare),
    'signal-catalogue': () => send('signalCatalogue', {}),
    'signal-catalogue-forbidden': () => send('signalCatalogue', {}, app, PERSON),
    'error-bad-user-input': () => captcha({ lotNumber: 'any', ...VALUES, captchaId: 'unknown' }),
    'error-device-token-rejected': () =>
      send('_entities', { representations: [{ __typename: 'DeviceFingerprint', token: 'made-up' }] }),
    'error-judgement-unreadable': () => open('altered'),
    'error-not-configured': () => device('sandbox:web', {}, limited, ROUTER),
    'error-quota-exceeded': () => device('sandbox:web', {}, limited, ROUTER),
    'error-rate-limited': async () => {
      await device('sandbox:web', {}, hurried, ROUTER);
      return device('sandbox:web', {}, hurried, ROUTER);
    },
    'error-upstream-timeout': () => {
      const timedOut = async () => {
        const answer = await device('sandbox:delay:60000:web');
        // Beside busy neighbours this process can be late itself.
        return answer.errors?.[0]?.extensions.code !== 'OVERLOADED' && answer;
      };
      return vi.waitUntil(timedOut, { timeout: 30_000 });
    },
    'error-upstream-unavailable': () => device('sandbox:error:500'),
    'error-upstream-rejected': () => device('sandbox:web', { publicKey: 'pk_sandbox_disabled' }),
    'error-upstream-protocol-error': () => device('without a document', {}, bare),
    'error-forbidden': () => device('sandbox:web', {}, app, PERSON),
    'error-internal-server-error': () =>
      ask(broken.graphqlUrl, DOCUMENTS['deviceFingerprint'] ?? '', { token: 'broken' }),
    'error-overloaded': () => ask(overloaded.graphqlUrl, '{ __typename }'),
    'error-unauthenticated': () => ask(limited.graphqlUrl, '{ __typename }'),
    'error-bad-request': () => post(app.graphqlUrl, '{'),
    'error-graphql-parse-failed': () => document('{'),
    'error-graphql-validation-failed': () => document('{ nothing }'),
    'error-operation-resolution-failure': () => document('query A { __typename } query B { __typename }'),
    'error-persisted-query-not-supported': () =>
      document('{ __typename }', { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }),
  };
  const stop = () => Promise.all([app, bare, limited, hurried, broken, overloaded, proxy].map((one) => one.stop()));
  return { outcomes: Object.entries(outcomes), stop };
}
