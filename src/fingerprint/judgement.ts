import { DeviceTrustError } from '../errors.ts';
import type { JudgementOutcome } from '../observability/metrics.ts';
import type { DeviceJudgement, DeviceRiskDecision } from '../schema.generated.ts';
import { JudgementBox } from './judgement-box.ts';
import { type Judgement, readRecord, writeRecord } from './judgement-record.ts';
import type { JudgedDevice } from './outcome.ts';
import type { SealingKey } from './sealing-key.ts';

/** Under which circumstances a device was judged. */
interface Occasion {
  /** The person on whose behalf the caller asked. */
  readonly subject: string | undefined;
  /** What the risk policy says about the device. It is not called unless the decision is read, or sealed. */
  readonly decide: () => DeviceRiskDecision;
}

/** Makes judgements that can be kept, and opens those that were. */
export interface Judgements {
  /**
   * The judgement of a device. It is sealed when its `sealed` is read, and only then. Reading it throws
   * UPSTREAM_PROTOCOL_ERROR if the device has so much to it that nobody could open the record.
   */
  of(device: JudgedDevice, occasion: Occasion): DeviceJudgement;
  /** Is there a key to seal with? */
  readonly canSeal: boolean;
  /**
   * Opens a judgement. It asks nobody.
   *
   * @throws DeviceTrustError JUDGEMENT_UNREADABLE for any text that is not, as a whole, one that a current key has sealed
   */
  open(sealed: string): DeviceJudgement;
  /** Replaces all keys. The first one seals, and all of them open. */
  replaceKeys(keys: readonly SealingKey[]): void;
}

/** @param onOutcome called for each judgement that was sealed, opened, or could not be opened */
export function createJudgements(
  keys: readonly SealingKey[],
  onOutcome: (outcome: JudgementOutcome) => void,
): Judgements {
  const box = new JudgementBox('device-judgement+jwe', keys);

  function seal(judgement: Judgement): string {
    const sealed = box.seal(writeRecord(judgement));
    if (sealed === undefined) {
      throw new DeviceTrustError('UPSTREAM_PROTOCOL_ERROR', { internal: 'a judgement that is too long to be sealed' });
    }
    onOutcome('sealed');
    return sealed;
  }

  return {
    get canSeal() {
      return box.canSeal;
    },
    of: (device, { subject, decide }) => {
      let sealed: string | undefined;
      const judgement: DeviceJudgement & Judgement = {
        __typename: 'DeviceJudgement',
        judgedAt: new Date(device.answeredAt).toISOString(),
        subject: subject ?? null,
        eventType: device.eventType ?? null,
        publicKey: device.publicKey,
        requestId: device.requestId,
        eventId: device.eventId,
        version: device.version,
        clientType: device.clientType,
        deviceBasic: device.deviceBasic,
        device: device.device,
        ipInfo: device.ipInfo,
        signals: device.signals,
        get decision() {
          return decide();
        },
        get sealed() {
          sealed ??= seal(judgement);
          return sealed;
        },
      };
      return judgement;
    },
    open: (sealed) => {
      const record = box.open(sealed);
      const judgement = record === undefined ? undefined : readRecord(record);
      if (!judgement) {
        onOutcome('unreadable');
        throw new DeviceTrustError('JUDGEMENT_UNREADABLE');
      }
      onOutcome('opened');
      return { ...judgement, sealed };
    },
    replaceKeys: (next) => box.replaceKeys(next),
  };
}
