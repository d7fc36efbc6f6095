const DEVICE = `
  publicKey requestId clientType device { id } ipInfo { ip }
  deviceBasic { __typename ... on Mobile { os { name } model } ... on Web { browser { name } } }
  signals { name level effect } decision { action rule }
`;

/** One operation for each root field. They are executed before readiness, with arguments that are refused before a call. */
export const WARM_UP_OPERATIONS = [
  {
    query: `query WarmUp($token: String!, $metadata: DeviceMetadataInput, $eventType: String) {
      deviceFingerprint(token: $token, metadata: $metadata, eventType: $eventType) {
        __typename ... on DeviceFingerprint { ${DEVICE} } ... on DeviceFingerprintRejected { reason errors { field } }
      }
    }`,
    variables: { token: 'warm-up', metadata: { accountId: 'warm-up' }, eventType: 'warm-up' },
  },
  {
    query: `query WarmUp($representations: [_Any!]!) {
      _entities(representations: $representations) { __typename ... on DeviceFingerprint { publicKey device { id } } }
    }`,
    variables: { representations: [{ __typename: 'DeviceFingerprint', token: 'warm-up' }] },
  },
  {
    query: `mutation WarmUp($input: ValidateCaptchaInput!) {
      validateCaptcha(input: $input) {
        __typename proceed ... on CaptchaPassed { details { usedType userIp lotNumber scene referer } }
        ... on CaptchaFailed { reason category } ... on CaptchaIndeterminate { cause code type message }
      }
    }`,
    variables: { input: { lotNumber: 'warm-up', captchaOutput: 'warm-up', passToken: 'warm-up', genTime: '1' } },
  },
  { query: '{ signalCatalogue { code level confidence effect meaning } }' },
  { query: '{ _service { sdl } }' },
];
