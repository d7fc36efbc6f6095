import { describe, expect, test } from 'vitest';
import { eventId, requestId } from '../../src/sandbox/ids.ts';

/** RFC 9562, 5.7: 48 bits of time, the version, and random bits around the variant. */
const UUID_V7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** The time in a UUID v7 behind a prefix of four characters, in ms since 1970. */
const timeOf = (id: string) => Number.parseInt(id.slice(4).replaceAll('-', '').slice(0, 12), 16);

describe('a request id', () => {
  test('is a UUID v7 with a time in 2025', () => {
    for (let at = 0; at < 200; at += 1) {
      const id = requestId('pk_sandbox_glb', `sandbox:web#${at}`);
      expect(id).toMatch(new RegExp(`^req_${UUID_V7}$`));
      expect(new Date(timeOf(id)).getUTCFullYear()).toBe(2025);
    }
  });

  test('is always the same for the same public key and token', () => {
    expect(requestId('pk_1', 'sandbox:web')).toBe(requestId('pk_1', 'sandbox:web'));
  });

  test('differs for another key, another token, and the same characters split elsewhere', () => {
    const pairs = [
      ['pk_1', 'token'],
      ['pk_2', 'token'],
      ['pk_1', 'other'],
      ['pk_1t', 'oken'],
      ['pk_1","token', ''],
    ] as const;
    expect(new Set(pairs.map(([key, token]) => requestId(key, token))).size).toBe(pairs.length);
  });
});

describe('event ids', () => {
  test('are UUIDs v7 with the current time', () => {
    const before = Date.now();
    const id = eventId();
    expect(id).toMatch(new RegExp(`^evt_${UUID_V7}$`));
    expect(timeOf(id)).toBeGreaterThanOrEqual(before);
    expect(timeOf(id)).toBeLessThanOrEqual(Date.now());
  });

  test('are all different, and sort by time even within one millisecond', () => {
    const ids = Array.from({ length: 5_000 }, eventId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });
});
