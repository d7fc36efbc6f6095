import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';
import { isRfc3339 } from '../runtime/rfc3339.ts';
import type { DeviceJudgement } from '../schema.generated.ts';
import { fromRecorded, toRecorded } from './judgement-signals.ts';
import { type JudgedDevice, toSignal } from './outcome.ts';

/**
 * What a sealed judgement contains, as compact JSON. It is kept for years, so whatever was sealed once must open as long as
 * its key exists: a change of the format is a new version beside this one, and `test/fixtures` has texts of each version.
 */

/** Everything that a judgement says. It has neither the token nor the metadata. */
export type Judgement = Omit<DeviceJudgement, 'sealed' | 'device' | 'ipInfo' | 'deviceBasic' | 'signals'> &
  Pick<JudgedDevice, 'device' | 'ipInfo' | 'deviceBasic' | 'signals'>;

const text = z.string();
const additional = z.record(text, z.unknown()).nullable().default(null);
const name = text.nullable().default(null);

const version1 = z.strictObject({
  v: z.literal(1),
  /** When it was judged. */
  at: text.refine(isRfc3339),
  subject: name,
  event: name,
  /** The public key. */
  pk: text,
  /** The request id, the event id, the version of the method and the device id. */
  ids: z.tuple([text, text, text, text]),
  ip: text,
  client: z.enum(['ANDROID', 'IOS', 'WEB_H5']),
  /** Of an app: the name and version of the system, the architecture and the model. */
  mobile: z.tuple([text.nullable(), text.nullable(), text, text]).optional(),
  /** Of a page. */
  web: z
    .strictObject({
      browser: z.strictObject({ name, version: name, major: name, additional }),
      device: z.strictObject({ model: name, vendor: name, additional }),
      os: z.strictObject({ name, version: name, additional }),
    })
    .optional(),
  signals: z.array(z.union([text, z.tuple([text, z.enum(['LOW', 'MEDIUM', 'HIGH']), z.number().min(0).max(1)])])),
  /** The action, the rule and the policy of the decision. */
  decision: z.tuple([z.enum(['ALLOW', 'CHALLENGE', 'DENY']), text, text]).optional(),
});

type Version1 = z.output<typeof version1>;
/** The same as it is written: what is null is left out. */
type Written1 = z.input<typeof version1>;

/** A judgement as the text of a record. */
export function writeRecord(judgement: Judgement): string {
  const { publicKey, requestId, eventId, version, device, ipInfo, clientType, decision } = judgement;
  const record: Written1 = {
    v: 1,
    at: judgement.judgedAt,
    subject: judgement.subject ?? undefined,
    event: judgement.eventType ?? undefined,
    pk: publicKey,
    ids: [requestId, eventId, version, device.id],
    ip: ipInfo.ip,
    client: clientType,
    ...writeBasic(judgement.deviceBasic),
    signals: judgement.signals.map(toRecorded),
    decision: decision ? [decision.action, decision.rule, decision.policy] : undefined,
  };
  return JSON.stringify(record);
}

/** The judgement of a record. Undefined for a text that is no record of a known version. */
export function readRecord(record: string): Judgement | undefined {
  const parsed = version1.safeParse(parseJson(record));
  if (!parsed.success) return undefined;
  const { at, subject, event, pk, ids, ip, client, signals, decision } = parsed.data;
  const deviceBasic = readBasic(parsed.data);
  const recorded = signals.map(fromRecorded);
  if (!deviceBasic || recorded.includes(undefined)) return undefined;
  const [requestId, eventId, version, deviceId] = ids;
  return {
    __typename: 'DeviceJudgement',
    judgedAt: at,
    subject,
    eventType: event,
    publicKey: pk,
    requestId,
    eventId,
    version,
    clientType: client,
    deviceBasic,
    device: { id: deviceId },
    ipInfo: { ip },
    signals: recorded.filter((signal) => signal !== undefined).map(toSignal),
    decision: decision ? { action: decision[0], rule: decision[1], policy: decision[2] } : null,
  };
}

function writeBasic(basic: Judgement['deviceBasic']): Pick<Written1, 'mobile' | 'web'> {
  if (basic.__typename === 'Mobile') {
    const { os, architecture, model } = basic;
    return { mobile: [os.name ?? null, os.version ?? null, architecture, model] };
  }
  const { browser, device, os } = basic;
  return {
    web: {
      browser: { ...named(browser), major: browser.major ?? undefined, additional: browser.additional ?? undefined },
      device: {
        model: device.model ?? undefined,
        vendor: device.vendor ?? undefined,
        additional: device.additional ?? undefined,
      },
      os: { ...named(os), additional: os.additional ?? undefined },
    },
  };
}

function named({ name, version }: { name?: string | null; version?: string | null }) {
  return { name: name ?? undefined, version: version ?? undefined };
}

/** Undefined if the record has not what its kind of client needs. */
function readBasic({ client, mobile, web }: Version1): Judgement['deviceBasic'] | undefined {
  if (client === 'WEB_H5') return web && !mobile ? { __typename: 'Web', ...web } : undefined;
  if (!mobile || web) return undefined;
  const [osName, osVersion, architecture, model] = mobile;
  return { __typename: 'Mobile', os: { name: osName, version: osVersion }, architecture, model };
}
