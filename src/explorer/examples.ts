/** Operations that work in the sandbox: the landing page shows one, and a start in a terminal prints a command for each. */

interface Example {
  readonly title: string;
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** The operation of the landing page and of GraphiQL. */
export const FINGERPRINT_EXAMPLE: Example = {
  title: 'What is this device, and is it risky?',
  document: `query DeviceFingerprint($token: String!, $metadata: DeviceMetadataInput) {
  deviceFingerprint(token: $token, metadata: $metadata, eventType: "login") {
    ... on DeviceFingerprint {
      clientType
      device { id }
      deviceBasic {
        ... on Mobile { model os { name version } }
        ... on Web { browser { name version } os { name version } }
      }
      ipInfo { ip }
      signals { name level confidence effect meaning }
    }
    ... on DeviceFingerprintRejected { reason errors { field reason type } }
  }
}`,
  variables: { token: 'sandbox:android:EMULATOR,VPN_ENABLED', metadata: { accountId: 'account-1' } },
};

const CATALOGUE_EXAMPLE: Example = {
  title: 'Which signals are there?',
  document: '{ signalCatalogue { code level confidence effect meaning } }',
  variables: {},
};

const CAPTCHA_EXAMPLE: Example = {
  title: 'Did a human really solve this captcha?',
  document: `mutation ValidateCaptcha($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) {
    __typename
    proceed
    ... on CaptchaPassed { details { usedType userIp scene referer } }
    ... on CaptchaFailed { reason category }
    ... on CaptchaIndeterminate { cause code message }
  }
}`,
  variables: {},
};

/** A command to paste into a shell. */
export interface ExampleCommand {
  readonly title: string;
  readonly command: string;
}

/**
 * A shell command for each example, against a running subgraph in sandbox mode.
 *
 * @param graphqlUrl of the subgraph
 * @param challengeUrl where the sandbox issues a captcha challenge
 */
export function exampleCommands(graphqlUrl: string, challengeUrl: string): ExampleCommand[] {
  return [
    ...[FINGERPRINT_EXAMPLE, CATALOGUE_EXAMPLE].map((example) => ({
      title: example.title,
      command: `${post(graphqlUrl)} -d '${JSON.stringify({ query: oneLine(example.document), variables: example.variables })}'`,
    })),
    { title: CAPTCHA_EXAMPLE.title, command: captchaCommand(graphqlUrl, challengeUrl) },
  ];
}

/**
 * A challenge can be verified once, so the command asks the sandbox for a new one each time. It renames the fields of that
 * response to those of the schema, and sends them as the input of the mutation.
 */
function captchaCommand(graphqlUrl: string, challengeUrl: string): string {
  const rename = FIELD_NAMES.map(([sandbox, schema]) => `s/${sandbox}/${schema}/;`).join('');
  const wrap = `s/.*/{"query":${JSON.stringify(oneLine(CAPTCHA_EXAMPLE.document))},"variables":{"input":&}}/`;
  return `curl -s -X POST '${challengeUrl}' | sed '${rename}${wrap}' | ${post(graphqlUrl)} -d @-`;
}

/** The name of each field in the sandbox's response and in the schema. */
const FIELD_NAMES = [
  ['captcha_id', 'captchaId'],
  ['lot_number', 'lotNumber'],
  ['captcha_output', 'captchaOutput'],
  ['pass_token', 'passToken'],
  ['gen_time', 'genTime'],
];

function post(graphqlUrl: string): string {
  return `curl -s ${graphqlUrl} -H 'content-type: application/json'`;
}

function oneLine(document: string): string {
  return document.replace(/\s+/g, ' ');
}
