import { graphql } from './generated/gql.ts';

/** Everything that the shop asks its gateway. `npm run codegen` types it from the graph without what is tagged `risk`. */

// Each time it is sent is an event, which may be billed: see this-device.ts.
export const THIS_DEVICE = graphql(`
  query ThisDevice($token: String!, $metadata: DeviceMetadataInput) {
    deviceFingerprint(token: $token, metadata: $metadata) {
      __typename
      ... on DeviceFingerprint {
        clientType
        deviceBasic {
          __typename
          ... on Mobile { model os { name } }
          ... on Web { browser { name } os { name } }
        }
      }
      ... on DeviceFingerprintRejected { reason }
    }
  }
`);

// A union is read through a fragment on each of its types, and `__typename` tells them apart. Token and proof are
// variables: a credential has no place in a document.
export const VALIDATE_CAPTCHA = graphql(`
  mutation ValidateCaptcha($input: ValidateCaptchaInput!) {
    validateCaptcha(input: $input) {
      __typename
      attestation
      ... on CaptchaFailed { category }
      ... on CaptchaIndeterminate { cause }
    }
  }
`);

export const PLACE_ORDER = graphql(`
  mutation PlaceOrder($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      __typename
      ... on OrderPlaced { order { item priceCents customer { name } } }
      ... on ChallengeRequired { reason audience action }
      ... on OrderRefused { code }
    }
  }
`);
