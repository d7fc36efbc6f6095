/** What a GraphQL client sees. */
export interface GraphqlAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came, for searching it. */
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer has the shape of its question, which each test knows and asserts.
  readonly data: any;
  readonly errors: readonly GraphqlError[] | undefined;
}

export interface GraphqlError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly retryable: boolean };
}

/** Sends one operation over HTTP, as a router would. */
export async function ask(
  graphqlUrl: string,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): Promise<GraphqlAnswer> {
  return post(graphqlUrl, JSON.stringify({ query, variables }));
}

/** Sends any text as a JSON body. */
export async function post(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<GraphqlAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  const text = await response.text();
  const { data, errors } = JSON.parse(text);
  return { status: response.status, headers: response.headers, text, data, errors };
}

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
