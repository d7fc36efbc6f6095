/** The GraphQL documents that most tests send: everything selected. */

/** Everything a `deviceFingerprint` can answer. */
export const FINGERPRINT_FIELDS = `
  __typename
  ... on DeviceFingerprint { ...Judged }
  ... on DeviceFingerprintRejected { reason errors { field reason type } }
`;

export const JUDGED_FRAGMENT = `
  fragment Judged on DeviceFingerprint {
    publicKey requestId eventId version clientType
    device { id }
    deviceBasic {
      __typename
      ... on Mobile { os { name version additional } architecture model }
      ... on Web {
        browser { name version major additional }
        device { model vendor additional }
        os { name version additional }
      }
    }
    ipInfo { ip }
    signals { name code level confidence effect meaning }
  }
`;

export const FINGERPRINT_QUERY = `
  query ($token: String!, $metadata: DeviceMetadataInput, $eventType: String, $eventTime: DateTime, $publicKey: ID) {
    deviceFingerprint(
      token: $token, metadata: $metadata, eventType: $eventType, eventTime: $eventTime, publicKey: $publicKey
    ) { ${FINGERPRINT_FIELDS} }
  }
  ${JUDGED_FRAGMENT}
`;

export const ENTITIES_QUERY = `
  query ($representations: [_Any!]!) { _entities(representations: $representations) { ...Judged } }
  ${JUDGED_FRAGMENT}
`;

export const CAPTCHA_MUTATION = `
  mutation ($input: ValidateCaptchaInput!) {
    validateCaptcha(input: $input) {
      __typename
      proceed
      ... on CaptchaPassed { details { usedType userIp lotNumber scene referer } }
      ... on CaptchaFailed { reason category details { usedType userIp lotNumber } }
      ... on CaptchaIndeterminate { cause code type message }
    }
  }
`;
