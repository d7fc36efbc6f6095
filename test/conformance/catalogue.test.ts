import { describe, expect, test } from 'vitest';
import { EXCEPTIONS, FAILURE_CATEGORIES, type ResponseKind, signToken } from '../../src/captcha/contract.ts';
import { TABLE } from '../../src/captcha/verdict.ts';
import { METADATA_KEYS } from '../../src/fingerprint/contract.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signal-catalogue.ts';
import { isRfc3339 } from '../../src/runtime/rfc3339.ts';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import reasons from '../fixtures/failure-reasons.json' with { type: 'json' };
import metadataKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import signals from '../fixtures/signals.json' with { type: 'json' };
import signatures from '../fixtures/signature.json' with { type: 'json' };
import { sign } from './captcha-http.ts';
import { INVALID_TIMES, VALID_TIMES } from './fingerprint-request.ts';

/** Compares the source with a copy of the documents' tables that was made by hand. */

describe('the fingerprint document', () => {
  test('the catalogue has the signals of the document, each with its level and confidence, in its order', () => {
    const catalogue = SIGNAL_CATALOGUE.map(({ code, level, confidence }) => ({ signal: code, level, confidence }));
    expect(catalogue, 'the schema or the catalogue differs from test/fixtures/signals.json').toEqual(signals);
  });

  test('the catalogue describes WHITELIST_* as blacklists and BLACKLIST_* as whitelists', () => {
    const listed = SIGNAL_CATALOGUE.filter(({ effect }) => effect !== 'RISK');
    expect(listed.map(({ code, effect }) => [code, effect])).toEqual([
      ...['WHITELIST_ACCOUNT_ID', 'WHITELIST_IP', 'WHITELIST_DEVICE_FINGERPRINT'].map((code) => [code, 'DENY']),
      ...['BLACKLIST_ACCOUNT_ID', 'BLACKLIST_IP', 'BLACKLIST_DEVICE_FINGERPRINT'].map((code) => [code, 'ALLOW']),
    ]);
  });

  test('the metadata has the keys of the document', () => {
    expect(METADATA_KEYS, 'the schema differs from test/fixtures/metadata-keys.json').toEqual(
      metadataKeys.map(({ wire, graphql }) => [graphql, wire]),
    );
  });

  test.each(VALID_TIMES)('the event_time %j is taken', (text) => expect(isRfc3339(text)).toBe(true));
  test.each(INVALID_TIMES)('the event_time %j is refused', (text) => expect(isRfc3339(text)).toBe(false));
});

describe('the captcha document', () => {
  test('the captcha document has 19 exceptions, each with its message and who can cause it', () => {
    expect(exceptions).toHaveLength(19);
    const causeOf = (kind: ResponseKind) => TABLE[kind]['200'].verdict;
    expect([...EXCEPTIONS].map(([code, { msg, kind }]) => ({ code, msg, cause: causeOf(kind) }))).toEqual(exceptions);
  });

  test('the captcha document has 3 failure reasons', () => {
    expect(reasons).toHaveLength(3);
    expect([...FAILURE_CATEGORIES].map(([reason, category]) => ({ reason, category }))).toEqual(reasons);
  });

  test.each(signatures)(
    'a lot number is signed as openssl does: $name',
    ({ lotNumber, captchaKey, signToken: expected }) => {
      expect(signToken(lotNumber, captchaKey)).toBe(expected);
      // The audits have a signature of their own, and it needs the same proof.
      expect(sign(lotNumber, captchaKey)).toBe(expected);
    },
  );
});
