import { expectKeys, expectList, expectMatch, expectObject, expectSame, expectText, expectThat } from './expect.ts';
import { expectError, expectSuccess, query, queryData, queryDetail } from './fingerprint-http.ts';
import { type Audit, audit, type Equipment, REGIONS, type Region, takeChallenge } from './target.ts';

/** What the sandbox adds to the documents so that a developer can steer it (src/sandbox/README.md). */

const NOT_TOKENS = [
  ...['sandbox', 'sandbox:', 'sandbox:windows', 'SANDBOX:android', ' sandbox:android', 'xsandbox:android', '#anything'],
  ...['NOT_A_SIGNAL', 'EMULATOR,NOT_A_SIGNAL', 'emulator', 'toString'].map((signals) => `sandbox:android:${signals}`),
  ...['sandbox:toString', 'sandbox:error:418', 'sandbox:delay:soon:android'],
];

async function signalNames(target: Parameters<typeof queryData>[0], token: string): Promise<readonly string[]> {
  const list = expectList((await queryData(target, token))['signals'], 'signals');
  return list.map((entry) => expectText(expectObject(entry, 'a signal')['signal'], 'signal'));
}

export const sandboxAudits: readonly Audit[] = [
  ...(['android', 'ios', 'web'] as const).map((client) =>
    audit(`SB-4-token-${client}`, `a token names ${client} and signals`, ['application'], async ({ application }) => {
      const clientType = { android: 'Android', ios: 'iOS', web: 'Web/H5' }[client];
      const token = `sandbox:${client}:EMULATOR,VPN_ENABLED`;
      expectSame((await queryDetail(application, token))['client_type'], clientType, 'client_type');
      expectSame((await signalNames(application, token)).toSorted(), ['EMULATOR', 'VPN_ENABLED'], 'signals');
      expectSame(await signalNames(application, `sandbox:${client}`), [], 'signals');
    }),
  ),
  audit('SB-4-token-suffix', 'a suffix makes a token distinct', ['application'], async ({ application }) => {
    const tokens = ['', '#1', '#2', '#sandbox:error:500', '#ü ,:#'].map((suffix) => `sandbox:android${suffix}`);
    const answers = await Promise.all(tokens.map((token) => queryData(application, token)));
    expectSame(new Set(answers.map((data) => data['request_id'])).size, tokens.length, 'analyses, in number');
    expectError(await query(application, { device_token: 'sandbox:error:500#again' }), 'internal_server_error');
  }),
  audit('SB-4-token-delay', 'a token can delay its answer', ['application'], async ({ application }) => {
    const start = performance.now();
    expectSuccess(await query(application, { device_token: 'sandbox:delay:300:android' }));
    const elapsed = performance.now() - start;
    // Timers may fire a little early.
    expectThat(elapsed > 290, 'an answer after 300 ms', elapsed);
  }),
  ...NOT_TOKENS.map((token, index) =>
    audit(`SB-4-no-token-${index + 1}`, `not a token: ${token}`, ['application'], async ({ application }) => {
      expectError(await query(application, { device_token: token }), 'invalid_token');
    }),
  ),
  audit('SB-4-web-keys', 'a web device shows every key that occurs', ['application', 'webToken'], async (target) => {
    const { device_basic } = await queryDetail(target.application, target.webToken);
    const { browser, device, os } = expectKeys(device_basic, ['browser', 'device', 'os'], 'device_basic');
    for (const key of ['name', 'version', 'major']) expectText(expectObject(browser, 'browser')[key], key);
    for (const key of ['model', 'vendor']) expectText(expectObject(device, 'device')[key], key);
    for (const key of ['name', 'version']) expectText(expectObject(os, 'os')[key], key);
  }),
  ...REGIONS.map((region) =>
    audit(
      `SB-4-challenge-${region}`,
      `${region} issues challenges, each another`,
      ['captchas', 'solve'],
      async (target) => {
        const first = await target.solve(target.captchas[region]);
        const second = await target.solve(target.captchas[region]);
        for (const [key, value] of Object.entries(first)) expectThat(value !== '', `a ${key}`, value);
        expectMatch(first.gen_time, /^[0-9]+$/, 'gen_time');
        expectThat(first.lot_number !== second.lot_number, 'another lot_number', second.lot_number);
        expectThat(first.pass_token !== second.pass_token, 'another pass_token', second.pass_token);
      },
    ),
  ),
];

/** The sandbox as the design states it: its accounts, its tokens, its forced outcomes. Nothing is missing. */
export function sandboxTarget(urls: Readonly<Record<Region, string>>): Equipment {
  const { GLB, NA, EU } = urls;
  const application = { url: GLB, publicKey: 'pk_sandbox_glb', secret: 'sk_sandbox_glb' };
  const captcha = { url: GLB, captchaId: 'a'.repeat(32), captchaKey: 'key_sandbox_glb' };
  return {
    application,
    applications: {
      GLB: application,
      NA: { url: NA, publicKey: 'pk_sandbox_na', secret: 'sk_sandbox_na' },
      EU: { url: EU, publicKey: 'pk_sandbox_eu', secret: 'sk_sandbox_eu' },
    },
    disabledApplication: { ...application, publicKey: 'pk_sandbox_disabled' },
    excludedApplication: { ...application, publicKey: 'pk_sandbox_allowlist', allowedAddress: '192.0.2.1' },

    token: 'sandbox:ios:VPN_ENABLED,DEVICE_JAILBREAK#conformance',
    androidToken: 'sandbox:android',
    iosToken: 'sandbox:ios',
    webToken: 'sandbox:web',
    quietToken: 'sandbox:android#quiet',
    brokenToken: 'sandbox:error:500',
    tokenWithSignals: (signals) => `sandbox:android:${signals.join(',')}`,

    captcha,
    captchas: {
      GLB: captcha,
      NA: { url: NA, captchaId: 'b'.repeat(32), captchaKey: 'key_sandbox_na' },
      EU: { url: EU, captchaId: 'c'.repeat(32), captchaKey: 'key_sandbox_eu' },
    },
    deletedCaptcha: { ...captcha, captchaId: 'd'.repeat(32) },
    pausedCaptcha: { ...captcha, captchaId: 'e'.repeat(32) },
    solve: ({ url, captchaId }) => takeChallenge(`${url}/sandbox/challenges`, captchaId),
    failingLotNumber: (reason) => `sandbox:fail:${reason}`,
    raisingLotNumber: (code) => `sandbox:exception:${code}`,
  };
}
