import { graphql } from './generated/gql.ts';

/** Everything that the page asks the supergraph. `npm run codegen` types it from the supergraph's public schema. */

// A union is read through a fragment on each of its types, and `__typename` tells them apart. No fragment is on an abstract
// type, so the client needs no `possibleTypes`. The token is a variable: a credential has no place in a document.
export const JUDGE_DEVICE = graphql(`
  query JudgeDevice($token: String!) {
    deviceFingerprint(token: $token, eventType: "checkout") {
      __typename
      ...Judgement
      ...Rejection
    }
  }

  fragment Judgement on DeviceFingerprint {
    clientType
    device { id }
    deviceBasic {
      __typename
      ... on Mobile { model architecture os { name version } }
      ... on Web { browser { name version } device { vendor model } os { name version } }
    }
    ipInfo { ip }
    signals { name code level confidence effect meaning }
  }

  fragment Rejection on DeviceFingerprintRejected {
    reason
    errors { field reason type }
  }
`);

export const VALIDATE_CAPTCHA = graphql(`
  mutation ValidateCaptcha($input: ValidateCaptchaInput!) {
    validateCaptcha(input: $input) {
      __typename
      attestation
      ... on CaptchaPassed { details { usedType scene } }
      ... on CaptchaFailed { category reason }
      ... on CaptchaIndeterminate { cause message }
    }
  }
`);

export const PLACE_ORDER = graphql(`
  mutation PlaceOrder($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      __typename
      ... on OrderPlaced { order { id item priceCents status customer { name } } }
      ... on ChallengeRequired { reason audience action }
      ... on OrderRefused { code }
    }
  }
`);
