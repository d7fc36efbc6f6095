import { z } from 'zod';
import { isObject, parseJson } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';
import type { DeviceJudgement, Signal } from '../schema.generated.ts';
import { type JudgedDevice, toSignal } from './outcome.ts';
import { RECORDED_ROWS } from './signal-catalogue.ts';

/** Sealed judgements must open for years, so a changed record is a new version beside the others, with texts in `test/fixtures`. */

/** The content of a judgement, without the token and the metadata. */
export type Judgement = Omit<DeviceJudgement, keyof Sealed | keyof Shown> & Shown;
type Shown = Pick<JudgedDevice, 'device' | 'ipInfo' | 'deviceBasic' | 'signals'>;
export type Sealed = Pick<DeviceJudgement, 'sealed' | 'isShortened'>;

const text = z.string();
const level = z.enum(['LOW', 'MEDIUM', 'HIGH']);
const fullSignal = z.tuple([text, level, z.number().min(0).max(1)]);

/** For a signal with the values of its row, a record has only the name. */
const BY_NAME: ReadonlyMap<unknown, z.infer<typeof fullSignal>> = new Map(
  Object.entries(RECORDED_ROWS).map(([name, [level, confidence]]) => [name, [name, level, confidence]]),
);

const textOrNull = text.nullable().default(null);
// `z.record` would drop the key `__proto__`.
const additional = z.custom<Record<string, unknown>>(isObject).nullable().default(null);

const schema = z.strictObject({
  /** Version 1 is a whole judgement, 2 a shortened one. Releases up to 0.6.0 open only 1, so a whole judgement stays version 1. */
  v: z.literal([1, 2]),
  /** When the device was judged. */
  at: text.refine(isRfc3339),
  subject: textOrNull,
  event: textOrNull,
  /** The public key. */
  pk: text,
  /** The request id, the event id, the version of the method and the device id. */
  ids: z.tuple([text, text, text, text]),
  ip: text,
  /** OTHER has neither `mobile` nor `web`. Releases up to 0.4.0 do not open a record with OTHER. */
  client: z.enum(['ANDROID', 'IOS', 'WEB_H5', 'OTHER']),
  /** Of an app: the name and version of the system, the architecture and the model. */
  mobile: z.tuple([text.nullable(), text.nullable(), text, text]).optional(),
  web: z
    .strictObject({
      browser: z.strictObject({ name: textOrNull, version: textOrNull, major: textOrNull, additional }),
      device: z.strictObject({ model: textOrNull, vendor: textOrNull, additional }),
      os: z.strictObject({ name: textOrNull, version: textOrNull, additional }),
    })
    .optional(),
  signals: z.array(z.preprocess((given) => BY_NAME.get(given) ?? given, fullSignal)),
  /** The action, the rule and the policy of the decision. */
  decision: z.tuple([z.enum(['ALLOW', 'CHALLENGE', 'DENY']), text, text]).optional(),
});

type Written = z.input<typeof schema>;

/** The text of a record of at most `maxBytes`, shortened if it has to be; undefined if the identifiers alone are longer. */
export function writeRecord(judgement: Judgement, maxBytes: number) {
  const record = toRecord(judgement);
  const whole = JSON.stringify(record);
  if (Buffer.byteLength(whole) <= maxBytes) return { text: whole, isShortened: false };
  const text = shorten(record, maxBytes);
  return text === undefined ? undefined : { text, isShortened: true };
}

/** A judgement without nulls. */
function toRecord(judgement: Judgement): Written {
  const { publicKey, requestId, eventId, version, device, ipInfo, clientType, decision } = judgement;
  return {
    v: 1,
    at: judgement.judgedAt,
    subject: judgement.subject ?? undefined,
    event: judgement.eventType ?? undefined,
    pk: publicKey,
    ids: [requestId, eventId, version, device.id],
    ip: ipInfo.ip,
    client: clientType,
    ...writeBasic(judgement.deviceBasic),
    signals: judgement.signals.map(writeSignal),
    decision: decision ? [decision.action, decision.rule, decision.policy] : undefined,
  };
}

/** Leaves out additional values that do not fit. Only if that is not enough, cuts long texts, then leaves out signals, the lowest first. */
function shorten(record: Written, maxBytes: number): string | undefined {
  const whole = { ...record, v: 2 };
  const bare: Written = JSON.parse(JSON.stringify(whole, (key, value) => (key === 'additional' ? undefined : value)));
  const short = bytesOf(bare) > maxBytes ? withShortTexts(bare) : bare;
  let left = maxBytes - bytesOf(short);
  for (const rank of ['LOW', 'MEDIUM', 'HIGH'] as const) {
    for (let at = short.signals.length - 1; at >= 0 && left < 0; at -= 1)
      if (levelOf(short.signals[at]) === rank) left += bytesOf(short.signals.splice(at, 1)[0]);
  }
  if (left < 0) return undefined;
  // A browser reports the most.
  for (const part of ['os', 'device', 'browser'] as const) {
    left -= ',"additional":{}'.length;
    const given = record.web?.[part].additional ?? {};
    const kept: [string, unknown][] = [];
    for (const key in given) {
      // The last bytes are not worth a search among thousands of values.
      if (left < 64) break;
      // `{"key":1}` is one byte longer than `"key":1,`.
      const bytes = bytesOf({ [key]: given[key] }) - 1;
      if (bytes > left) continue;
      left -= bytes;
      kept.push([key, given[key]]);
    }
    if (short.web && kept.length > 0) short.web[part].additional = Object.fromEntries(kept);
  }
  return JSON.stringify(short);
}

/** A signal stored by name alone has the catalogue's level. */
function levelOf(signal: unknown): unknown {
  const [, level] = Array.isArray(signal) ? signal : (BY_NAME.get(signal) ?? []);
  return level;
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** As escapes, 14 texts of this many characters take two thirds of a record. */
const MAX_SHORT_TEXT = 48;

/** Cuts all texts but our own, and identifiers, which would be others then. Half of a surrogate pair is no text. */
function withShortTexts({ ids, subject, pk, signals, decision, ...shown }: Written): Written {
  const cut = (text: string) => text.slice(0, MAX_SHORT_TEXT).replace(/[\ud800-\udbff]$/, '');
  const short = JSON.parse(JSON.stringify(shown, (_key, value) => (typeof value === 'string' ? cut(value) : value)));
  const [requestId, eventId, version, deviceId] = ids;
  return { ...short, ids: [requestId, eventId, cut(version), deviceId], subject, pk, signals, decision };
}

/** The judgement of a record; undefined if the text is no record. */
export function readRecord(record: string): (Judgement & Omit<Sealed, 'sealed'>) | undefined {
  const { data } = schema.safeParse(parseJson(record));
  const deviceBasic = data && readBasic(data);
  if (!data || deviceBasic === undefined) return undefined;
  const { ids, decision } = data;
  const [requestId, eventId, version, id] = ids;
  return {
    __typename: 'DeviceJudgement',
    isShortened: data.v === 2,
    judgedAt: data.at,
    subject: data.subject,
    eventType: data.event,
    publicKey: data.pk,
    requestId,
    eventId,
    version,
    clientType: data.client,
    deviceBasic,
    device: { id },
    ipInfo: { ip: data.ip },
    signals: data.signals.map(([name, level, confidence]) => toSignal({ name, level, confidence })),
    decision: decision ? { action: decision[0], rule: decision[1], policy: decision[2] } : null,
  };
}

function writeSignal({ name, level, confidence }: Signal): string | z.infer<typeof fullSignal> {
  const [, usualLevel, usualConfidence] = BY_NAME.get(name) ?? [];
  return level === usualLevel && confidence === usualConfidence ? name : [name, level, confidence];
}

function writeBasic(basic: Judgement['deviceBasic']): Pick<Written, 'mobile' | 'web'> {
  if (!basic) return {};
  if (basic.__typename === 'Web') return { web: { browser: basic.browser, device: basic.device, os: basic.os } };
  const { os, architecture, model } = basic;
  return { mobile: [os.name ?? null, os.version ?? null, architecture, model] };
}

/** Undefined if the record lacks the fields of its kind of client. */
function readBasic({ client, mobile, web }: z.output<typeof schema>): Judgement['deviceBasic'] | undefined {
  if (client === 'WEB_H5') return web && !mobile ? { __typename: 'Web', ...web } : undefined;
  if (client === 'OTHER') return web || mobile ? undefined : null;
  if (!mobile || web) return undefined;
  const [name, version, architecture, model] = mobile;
  return { __typename: 'Mobile', os: { name, version }, architecture, model };
}
