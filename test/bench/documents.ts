import { CAPTCHA_MUTATION, FINGERPRINT_FIELDS, JUDGED_FRAGMENT } from '../support/graphql.ts';

/** The documents that are sent. Like those of a router they do not change; the variables do. */

/** As text on one line, which is how routers write. */
const oneLine = (document: string) => document.replaceAll(/\s+/g, ' ').trim();

export const SINGLE = oneLine(`
  query Judge($token: String!, $metadata: DeviceMetadataInput, $eventType: String) {
    deviceFingerprint(token: $token, metadata: $metadata, eventType: $eventType) { ${FINGERPRINT_FIELDS} }
  }
  ${JUDGED_FRAGMENT}
`);

export const ENTITIES = oneLine(`
  query Entities($representations: [_Any!]!) {
    _entities(representations: $representations) { __typename ...Judged }
  }
  ${JUDGED_FRAGMENT}
`);

export const THREE_ROOTS = oneLine(`
  query Three($first: String!, $second: String!, $third: String!) {
    first: deviceFingerprint(token: $first) { ${FINGERPRINT_FIELDS} }
    second: deviceFingerprint(token: $second) { ${FINGERPRINT_FIELDS} }
    third: deviceFingerprint(token: $third) { ${FINGERPRINT_FIELDS} }
  }
  ${JUDGED_FRAGMENT}
`);

export const CAPTCHA = oneLine(CAPTCHA_MUTATION);

export const ATTESTED_CAPTCHA = CAPTCHA.replace('proceed ', 'proceed attestation ');

/** Little about many devices, without and with the decision, so that the decision is much of it. */
export const UNDECIDED = oneLine(`
  query Devices($representations: [_Any!]!) {
    _entities(representations: $representations) { ... on DeviceFingerprint { eventId } }
  }
`);
export const DECIDED = UNDECIDED.replace('eventId', 'eventId decision { action rule policy }');

/** Everything that a sealed judgement of a phone contains. */
export const SEALED = oneLine(`
  query Sealed($representations: [_Any!]!) {
    _entities(representations: $representations) {
      ... on DeviceJudgement {
        judgedAt subject eventType publicKey requestId eventId version clientType device { id } ipInfo { ip }
        deviceBasic { ... on Mobile { os { name version additional } architecture model } }
        signals { name code level confidence effect meaning }
        decision { action rule policy }
      }
    }
  }
`);

/** A field that the schema does not have. */
export const INVALID = SINGLE.replace('requestId', 'requestIdentifier');

/** The full query under another name, which makes it another document. */
export const singleNamed = (name: string) => SINGLE.replace('Judge', name);

/** The full query with a field under this name in the answer, which makes it a document with other fields. */
export const singleWithAlias = (alias: string) => SINGLE.replace('requestId', `${alias}: requestId`);
