import { pieces } from './times.ts';

/** The GraphQL documents that most tests send, and what goes with them. */

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

/** What a captcha that nobody solved sends. */
export const CAPTCHA_INPUT = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** So many captchas in one request, each under an alias of its own. */
export const captchasMutation = (count: number) =>
  `mutation ($input: ValidateCaptchaInput!) { ${pieces(count, (at) => `a${at}: validateCaptcha(input: $input) { proceed }`)} }`;

/** A query for each of these tokens, under an alias of its own. */
export function queryForTokens(tokens: readonly string[], publicKey?: string): string {
  const more = publicKey === undefined ? '' : `, publicKey: "${publicKey}"`;
  const fields = tokens.map((token, at) => `a${at}: deviceFingerprint(token: "${token}"${more}) { __typename }`);
  return `{ ${fields.join(' ')} }`;
}

/** These fields of judgements by reference. */
export const entitiesQuery = (fields: string) =>
  `query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on DeviceFingerprint { ${fields} } } }`;

/** A reference to the judgement of each token, as variables. */
export const referencesTo = (tokens: readonly string[]) => ({
  representations: tokens.map((token) => ({ __typename: 'DeviceFingerprint', token })),
});
