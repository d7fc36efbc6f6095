import { JudgementBox } from '../../src/fingerprint/judgement-box.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import type { Row } from './allowed-requests.ts';

/** The most expensive requests about sealed judgements that the limits allow. */

/** The smallest record of version 1, and one with ten signals. */
const recordOf = (event: number, signals: readonly string[]) =>
  JSON.stringify({
    v: 1,
    at: '2026-11-22T02:03:04Z',
    pk: 'p',
    ids: ['r', `${event}`, '1', 'd'],
    ip: 'i',
    client: 'IOS',
    mobile: ['iOS', '18', 'arm64', 'm'],
    signals,
  });
const TEN =
  'EMULATOR VPN_ENABLED CLOUD_PHONE BEING_DEBUGGED NETWORK_PROXY LIMIT_EXCEED DEVICE_ROOTED SCREEN_SHARING TOKEN_EXPIRED WHITELIST_IP';
const EVERYTHING = `judgedAt subject eventType publicKey requestId eventId version clientType device { id } ipInfo { ip }
  deviceBasic { ... on Mobile { os { name version additional } architecture model } }
  signals { name code level confidence effect meaning } decision { action rule policy }`;

const open = (fields: string) =>
  `query ($r: [_Any!]!) { _entities(representations: $r) { ... on DeviceJudgement { ${fields} } } }`;

/** Each row stays just within the limits. The judgements are sealed with the keys of `test/support/judgements.ts`. */
export function judgementRows(): readonly Row[] {
  const box = new JudgementBox('device-judgement+jwe', SEALING_KEYS);
  const references = (
    count: number,
    change: (sealed: string, at: number) => string,
    signals: readonly string[] = [],
  ) => ({
    r: Array.from({ length: count }, (_, at) => ({
      __typename: 'DeviceJudgement',
      sealed: change(box.seal(recordOf(at, signals)) ?? '', at),
    })),
  });
  const same = (sealed: string) => sealed;
  const scalars = Array.from({ length: 80 }, (_, at) => `a${at}: eventId`).join(' ');
  return [
    ['everything about 550 judgements', open(EVERYTHING), references(550, same, TEN.split(' '))],
    ['scalars of 950 judgements', open(scalars), references(950, same)],
    // The last character of a tag has four spare bits, so the one before it is changed.
    [
      '900 judgements that fail last',
      open('eventId'),
      references(900, (sealed) => `${sealed.slice(0, -2)}${sealed.at(-2) === 'x' ? 'y' : 'x'}${sealed.slice(-1)}`),
    ],
  ];
}
