import metadataKeys from '../fixtures/metadata-keys.json' with { type: 'json' };
import { INVALID_TIMES, VALID_TIMES } from './event-times.ts';
import { expectSame } from './expect.ts';
import {
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
function takes(id: `FP-${string}-${string}`, name: string, ...bodies: readonly Record<string, unknown>[]): Audit {
  return audit(id, name, ['application', 'token'], async ({ application, token }) => {
    for (const body of bodies) expectSuccess(await query(application, { device_token: token, ...body }));
  });
}

/** The same, refused with a 400 that names the field. */
function refuses(
  id: `FP-${string}-${string}`,
  name: string,
  field: string,
  ...bodies: readonly Record<string, unknown>[]
): Audit {
  return audit(id, name, ['application', 'token'], async ({ application, token }) => {
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
  audit('FP-2.1-token-missing', 'device_token missing', ['application'], async ({ application }) => {
    expectError(await query(application, {}), 'field_required');
    expectError(await query(application, { event_type: 'login' }), 'field_required');
  }),
  refuses(
    'FP-2.1-token-type',
    'device_token of another type',
    'device_token',
    ...NOT_STRINGS.map((value) => ({ device_token: value })),
  ),
  refuses('FP-2.1-token-empty', 'device_token empty', 'device_token', { device_token: '' }),
  refuses('FP-2.1-unknown-field', 'a top-level field that is not listed', 'device_id', { device_id: 'text' }),
  refuses('FP-2.1-unknown-null', 'a top-level field that is not listed, even null', 'surplus', { surplus: null }),
  refuses('FP-2.1-camel-case', 'a listed field in another spelling', 'eventType', { eventType: 'login' }),
  takes('FP-2.1-metadata-absent', 'metadata may be left out or empty', {}, { metadata: {} }),
  refuses(
    'FP-2.1-metadata-type',
    'metadata of another type',
    'metadata',
    ...NOT_OBJECTS.map((metadata) => ({ metadata })),
  ),
  takes(
    'FP-2.1-event-type-any',
    'event_type is any string',
    { event_type: 'login' },
    { event_type: '' },
    { event_type: '支付 💳 \u0000' },
  ),
  refuses(
    'FP-2.1-event-type-type',
    'event_type of another type',
    'event_type',
    ...NOT_STRINGS.map((value) => ({ event_type: value })),
  ),
  refuses(
    'FP-2.1-event-time-type',
    'event_time of another type',
    'event_time',
    ...NOT_STRINGS.map((value) => ({ event_time: value })),
  ),
  audit('FP-2.1-body-type', 'a body that is JSON, but no object', ['application'], async ({ application }) => {
    for (const body of NOT_OBJECTS) expectFieldErrors(await query(application, body));
  }),
  audit('FP-2.1-body-syntax', 'a body that is not JSON', ['application'], async ({ application }) => {
    for (const body of ['', '{', '{"device_token":"x",}', 'device_token=x']) {
      expectFieldErrors(await queryText(application, body));
    }
  }),
];

const timeAudits: readonly Audit[] = [
  ...VALID_TIMES.map(([name, time]) => takes(`FP-2.1-time-${name}`, `event_time ${time}`, { event_time: time })),
  ...INVALID_TIMES.map(([name, time]) =>
    refuses(`FP-2.1-no-time-${name}`, `event_time refused: ${JSON.stringify(time)}`, 'event_time', {
      event_time: time,
    }),
  ),
];

const metadataAudits: readonly Audit[] = [
  ...metadataKeys.flatMap(({ wire }) => [
    takes(
      `FP-2.2-${wire}`,
      `metadata.${wire} is a string`,
      { metadata: { [wire]: 'text' } },
      { metadata: { [wire]: '' } },
    ),
    refuses(
      `FP-2.2-${wire}-type`,
      `metadata.${wire} of another type`,
      wire,
      ...NOT_STRINGS.map((value) => ({ metadata: { [wire]: value } })),
    ),
  ]),
  takes('FP-2.2-all', 'all known keys together', { metadata: allMetadata }),
  takes(
    'FP-2.2-additional',
    'additional keys are allowed, with values of any type',
    ...['text', 42, true, null, ['text'], { nested: { deeper: [1] } }].map((value) => ({ metadata: { tier: value } })),
  ),
  audit(
    'FP-2.2-default',
    'metadata left out is an empty object',
    ['application', 'token'],
    async ({ application, token }) => {
      const without = expectSuccess(await query(application, { device_token: token }));
      const empty = expectSuccess(await query(application, { device_token: token, metadata: {} }));
      expectSame(empty['request_id'], without['request_id'], 'the same analysis');
    },
  ),
];

export const requestAudits: readonly Audit[] = [...bodyAudits, ...timeAudits, ...metadataAudits];
