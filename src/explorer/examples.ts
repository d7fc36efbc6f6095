/** Operations that work in the sandbox: the pages show them, and a start in a terminal prints a command for each. */

interface Example {
  readonly title: string;
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const FINGERPRINT_EXAMPLE: Example = {
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
  document: 'query SignalCatalogue { signalCatalogue { code level confidence effect meaning } }',
  variables: {},
};

/** The name of the operation that verifies a captcha. */
export const CAPTCHA_OPERATION = 'ValidateCaptcha';

const CAPTCHA_EXAMPLE: Example = {
  title: 'Did a human really solve this captcha?',
  document: `mutation ${CAPTCHA_OPERATION}($input: ValidateCaptchaInput!) {
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

/** Issues a solved captcha challenge, with the names of the sandbox's response. */
export type IssueChallenge = () => Promise<Readonly<Record<string, unknown>>>;

/** Every example as an operation that works as it is, because the captcha's has a challenge that was issued just now. */
export async function operationsWith(issueChallenge: IssueChallenge): Promise<Example[]> {
  const challenge = await issueChallenge();
  const input = Object.fromEntries(FIELD_NAMES.map(([sandbox, schema]) => [schema, challenge[sandbox]]));
  return [FINGERPRINT_EXAMPLE, CATALOGUE_EXAMPLE, { ...CAPTCHA_EXAMPLE, variables: { input } }];
}

/** The name of each field in the sandbox's response and in the schema. */
const FIELD_NAMES = [
  ['captcha_id', 'captchaId'],
  ['lot_number', 'lotNumber'],
  ['captcha_output', 'captchaOutput'],
  ['pass_token', 'passToken'],
  ['gen_time', 'genTime'],
] as const;

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
 * @param secrets with any, the first command sets one, and the others send it. None is printed, because terminals are recorded.
 */
export function exampleCommands(
  graphqlUrl: string,
  challengeUrl: string,
  secrets: { readonly routerSecrets: readonly unknown[]; readonly services: readonly unknown[] },
): ExampleCommand[] {
  let post = `curl -s ${graphqlUrl} -H 'content-type: application/json'`;
  const commands: ExampleCommand[] = [];
  if (secrets.routerSecrets.length > 0 || secrets.services.length > 0) {
    const isRouter = secrets.routerSecrets.length > 0;
    const placeholder = isRouter ? 'one of ROUTER_SECRETS' : 'a secret of SERVICES';
    commands.push({ title: 'Put your secret here first', command: `SECRET='${placeholder}'` });
    post += ` -H "${isRouter ? 'Router-Authorization:' : 'Authorization: Bearer'} $SECRET"`;
  }
  for (const { title, document, variables } of [FINGERPRINT_EXAMPLE, CATALOGUE_EXAMPLE]) {
    commands.push({ title, command: `${post} -d '${JSON.stringify({ query: oneLine(document), variables })}'` });
  }
  // A challenge can be verified once, so the command asks the sandbox for a new one each time. It renames the fields of that
  // response to those of the schema, and sends them as the input of the mutation.
  const rename = FIELD_NAMES.map(([sandbox, schema]) => `s/${sandbox}/${schema}/;`).join('');
  const wrap = `s/.*/{"query":${JSON.stringify(oneLine(CAPTCHA_EXAMPLE.document))},"variables":{"input":&}}/`;
  const command = `curl -s -X POST '${challengeUrl}' | sed '${rename}${wrap}' | ${post} -d @-`;
  return [...commands, { title: CAPTCHA_EXAMPLE.title, command }];
}

function oneLine(document: string): string {
  return document.replace(/\s+/g, ' ');
}
