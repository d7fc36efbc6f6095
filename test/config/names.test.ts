import { describe, expect, test } from 'vitest';
import { CANARY, LIVE, problemsOf } from './support.ts';

/** Addresses and names: what could be a secret in the wrong place, or a mistake that nobody would see. */

const ADDRESS = 'expected an https address without user, query or fragment; plain http only to this machine';

describe('what is refused, in one sentence', () => {
  // The address itself is never repeated: someone may have put a key into its query, or pasted one in its place.
  test.each<[string, readonly string[]]>([
    [
      'no address',
      ['fp.example', '//fp.example', 'https://', 'https://a b', 'https://fp.example ', 'sk_live_canary-7f3a'],
    ],
    ['not https', ['ftp://fp.example', 'http://fp.example', 'http://10.0.0.1', 'http://0.0.0.0', 'http://[::2]']],
    ['not https', ['http://localhost.evil.com', 'http://127.0.0.1.evil.com']],
    [
      'a user, query or fragment',
      ['https://fp.example?x=1', 'https://fp.example/#x', 'http://localhost?key=canary-7f3a'],
    ],
    // Either one swallows the path that is appended to the address.
    ['a user, query or fragment', ['https://fp.example?', 'https://fp.example/#']],
    [
      'a user, query or fragment',
      ['https://user:pw@fp.example', 'http://user:pw@127.0.0.1', 'https://user@fp.example'],
    ],
  ])('an address that is %s', (flaw, urls) => {
    for (const name of ['FINGERPRINT_URL_GLB', 'CAPTCHA_URL_GLB']) {
      for (const url of urls) {
        const sentence = `${name}: ${ADDRESS}, but got a value that does not fit (${flaw}).`;
        expect(problemsOf({ ...LIVE, [name]: url })).toEqual([sentence]);
      }
    }
  });

  test.each<[string, readonly string[]]>([
    ['no address', ['/v1/traces', 'http://', `${CANARY} 4318`]],
    ['neither http nor https', ['collector:4318', 'grpc://collector:4317', `file:///${CANARY}`]],
    ['a user, query or fragment', [`http://user:${CANARY}@collector`, `https://collector?key=${CANARY}`]],
  ])('an OTLP endpoint that is %s', (flaw, urls) => {
    const expected = 'expected an http or https address without user, query or fragment';
    for (const url of urls) {
      expect(problemsOf({ ...LIVE, OTEL_EXPORTER_OTLP_ENDPOINT: url })).toEqual([
        `OTEL_EXPORTER_OTLP_ENDPOINT: ${expected}, but got a value that does not fit (${flaw}).`,
      ]);
    }
  });

  test.each([
    'CAPTCHA_FAILOPEN',
    'captcha_fail_open',
    'FINGERPRINT_APPLICATION',
    'FINGERPRINT_URL_EU_FILE',
    'SANDBOX_PROT',
  ])('%s, which is no variable but looks like one', (name) => {
    expect(problemsOf({ ...LIVE, [name]: CANARY })).toEqual([
      `${name}: there is no such variable. Correct the name or remove it.`,
    ]);
  });

  test('but not what Kubernetes sets for a service of the same name', () => {
    const ofKubernetes = {
      CAPTCHA_SERVICE_HOST: '10.0.0.1',
      CAPTCHA_SERVICE_PORT_HTTPS: '443',
      CAPTCHA_PORT: 'tcp://10.0.0.1:443',
      FINGERPRINT_API_PORT_443_TCP_ADDR: '10.0.0.1',
    };
    expect(problemsOf({ ...LIVE, ...ofKubernetes })).toEqual([]);
  });
});
