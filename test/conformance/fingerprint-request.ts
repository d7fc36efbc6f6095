import metadataKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import {
  asking,
  expectError,
  expectFieldErrors,
  expectRefusedField,
  expectSuccess,
  query,
  queryText,
} from './fingerprint-http.ts';
import { type Audit, audit } from './target.ts';

/** What the service takes and refuses in a request body (2.1, 2.2). */

const NOT_STRINGS = [42, 0, true, null, [], ['text'], {}] as const;
const NOT_OBJECTS = ['text', '', 42, false, null, [], [{}]] as const;

/** A field of the body with a value, beside a good token: taken. */
function takes(id: string, name: string, ...bodies: readonly Record<string, unknown>[]): Audit {
  return asking(id, name, async (application, token) => {
    for (const body of bodies) expectSuccess(await query(application, { device_token: token, ...body }));
  });
}

/** The same, refused with a 400 that names the field. */
function refuses(id: string, name: string, field: string, ...bodies: readonly Record<string, unknown>[]): Audit {
  return asking(id, name, async (application, token) => {
    for (const body of bodies) expectRefusedField(await query(application, { device_token: token, ...body }), field);
  });
}

const allMetadata = Object.fromEntries(metadataKeys.map(({ wire }) => [wire, `value of ${wire}`]));

const bodyAudits: readonly Audit[] = [
  takes('FP-2.1-minimal', 'a device_token alone is a valid body', {}),
  takes('FP-2.1-full', 'all four fields together are a valid body', {
    metadata: allMetadata,
    event_type: 'login',
    event_time: '2025-06-01T12:00:00Z',
  }),
  audit('FP-2.1-token-missing', 'a query without device_token is refused', ['application'], async ({ application }) => {
    expectError(await query(application, {}), 'field_required');
    expectError(await query(application, { event_type: 'login' }), 'field_required');
  }),
  refuses(
    'FP-2.1-token-type',
    'a device_token of another type is refused',
    'device_token',
    ...NOT_STRINGS.map((value) => ({ device_token: value })),
  ),
  refuses('FP-2.1-token-empty', 'device_token empty', 'device_token', { device_token: '' }),
  refuses('FP-2.1-unknown-field', 'a top-level field that is not listed', 'device_id', { device_id: 'text' }),
  refuses('FP-2.1-unknown-null', 'a top-level field that is not listed, even null', 'surplus', { surplus: null }),
  refuses('FP-2.1-unknown-name', 'a top-level field named `__proto__`', '__proto__', JSON.parse('{"__proto__":{}}')),
  refuses('FP-2.1-camel-case', 'a listed field in another spelling', 'eventType', { eventType: 'login' }),
  takes('FP-2.1-metadata-absent', 'metadata may be left out or empty', {}, { metadata: {} }),
  refuses(
    'FP-2.1-metadata-type',
    'metadata of another type is refused',
    'metadata',
    ...NOT_OBJECTS.map((metadata) => ({ metadata })),
  ),
  takes(
    'FP-2.1-event-type-any',
    'event_type is any string',
    { event_type: 'login' },
    { event_type: '' },
    { event_type: '支付 💳 \u0000' },
    { event_type: 'check\nout\r\u2028' },
    { event_type: 'e'.repeat(16_384) },
  ),
  refuses(
    'FP-2.1-event-type-type',
    'an event_type of another type is refused',
    'event_type',
    ...NOT_STRINGS.map((value) => ({ event_type: value })),
  ),
  refuses(
    'FP-2.1-event-time-type',
    'an event_time of another type is refused',
    'event_time',
    ...NOT_STRINGS.map((value) => ({ event_time: value })),
  ),
  audit('FP-2.1-body-type', 'a body that is JSON, but no object, is refused', ['application'], async (target) => {
    for (const body of NOT_OBJECTS) expectFieldErrors(await query(target.application, body));
  }),
  audit('FP-2.1-body-syntax', 'a body that is not JSON is refused', ['application'], async ({ application }) => {
    for (const body of ['', '{', '{"device_token":"x",}', 'device_token=x']) {
      expectFieldErrors(await queryText(application, body));
    }
  }),
];

/** RFC 3339 date-times with an offset (fingerprint document, 2.1), and texts that are near misses. */
export const VALID_TIMES: readonly string[] = [
  ...['2025-06-01T12:00:00Z', '2025-06-01T12:00:00+08:00', '2025-06-01T12:00:00-05:30', '2025-06-01T12:00:00-00:00'],
  ...['2025-06-01T12:00:00+23:59', '2025-06-01T12:00:00.5Z', '2025-06-01T12:00:00.123456789Z', '2025-06-01t12:00:00z'],
  ...['2025-06-01T12:00:00.123456789012+02:00', '2025-01-01T00:00:00Z', '2025-12-31T23:59:59Z', '0000-01-01T00:00:00Z'],
  // Leap days, and the examples of RFC 3339, 5.8
  ...['2024-02-29T12:00:00Z', '2000-02-29T12:00:00Z', '1985-04-12T23:20:50.52Z', '1996-12-19T16:39:57-08:00'],
  ...['1990-12-31T23:59:60Z', '1990-12-31T15:59:60-08:00', '1937-01-01T12:00:27.87+00:20'],
];

export const INVALID_TIMES: readonly string[] = [
  ...['', 'yesterday', '1748779200', 'Sun, 01 Jun 2025 12:00:00 GMT', '2025-06-01T12:00:00', '2025-06-01', '12:00:00Z'],
  ...['2025-06-01T12:00Z', '20250601T120000Z', '2025-W22-7T12:00:00Z', '2025-152T12:00:00Z', '2025-6-01T12:00:00Z'],
  ...['25-06-01T12:00:00Z', '+12025-06-01T12:00:00Z', '2025-00-01T12:00:00Z', '2025-13-01T12:00:00Z'],
  ...['2025-06-00T12:00:00Z', '2025-06-31T12:00:00Z', '2024-02-30T12:00:00Z', '2025-02-29T12:00:00Z'],
  ...['1900-02-29T12:00:00Z', '2025-06-01T24:00:00Z', '2025-06-01T12:60:00Z', '2025-06-01T23:59:61Z'],
  ...['2025-06-30T12:00:60Z', '2025-06-01T12:00:00+0800', '2025-06-01T12:00:00+08', '2025-06-01T12:00:00+24:00'],
  ...['2025-06-01T12:00:00+08:60', '2025-06-01T12:00:00Z+08:00', '2025-06-01T12:00:00 Europe/Berlin'],
  ...['2025-06-01T12:00:00.Z', '2025-06-01T12:00:00,5Z', '2025-06-01_12:00:00Z', ' 2025-06-01T12:00:00Z'],
  ...['2025-06-01T12:00:00Z ', '2025-06-01T12:00:00Z\n', '２０２５-06-01T12:00:00Z'],
];

const timeAudits: readonly Audit[] = [
  takes('FP-2.1-time', 'event_time is RFC 3339', ...VALID_TIMES.map((event_time) => ({ event_time }))),
  refuses(
    'FP-2.1-no-time',
    'an event_time in another form is refused',
    'event_time',
    ...INVALID_TIMES.map((event_time) => ({ event_time })),
  ),
];

const metadataAudits: readonly Audit[] = [
  takes(
    'FP-2.2-known',
    'the known keys are strings, one alone or all together',
    { metadata: allMetadata },
    ...metadataKeys.flatMap(({ wire }) => ['text', ''].map((text) => ({ metadata: { [wire]: text } }))),
  ),
  ...metadataKeys.map(({ wire }) =>
    refuses(
      `FP-2.2-${wire}-type`,
      `metadata.${wire} of another type`,
      wire,
      ...NOT_STRINGS.map((value) => ({ metadata: { [wire]: value } })),
    ),
  ),
  takes(
    'FP-2.2-additional',
    'additional keys are allowed, with values of any type',
    ...['text', '', 42, true, null, ['text'], { nested: { deeper: [1] } }].map((value) => ({
      metadata: { tier: value },
    })),
  ),
  takes(
    'FP-2.2-additional-names',
    'additional keys may have any name',
    ...['', 'constructor', 'prototype', '__proto__', 'Größe 💳\n', 'k'.repeat(1_000)].map((name) => ({
      metadata: { [name]: { [name]: 'text' } },
    })),
  ),
  takes(
    'FP-2.2-long',
    'texts of 16 KiB are taken',
    { metadata: Object.fromEntries(metadataKeys.slice(0, 8).map(({ wire }) => [wire, 'é'.repeat(8_192)])) },
    { metadata: { tier: 't'.repeat(16_384) } },
  ),
];

export const requestAudits: readonly Audit[] = [...bodyAudits, ...timeAudits, ...metadataAudits];
