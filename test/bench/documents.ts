import { CAPTCHA_MUTATION, FINGERPRINT_FIELDS, JUDGED_FRAGMENT } from '../support/graphql.ts';

/** The documents that are sent, everything selected. Like those of a router they never change; the variables do. */

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
