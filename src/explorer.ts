/** Operations that work in the sandbox. The pages show all of them, and a start in a terminal prints some as commands. */

/** An operation. Its document begins with a comment about its purpose, and gives the operation a name. */
export interface Example {
  readonly document: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

// Apollo Sandbox has one set of variables for all examples, so a name means the same in each example.
const token = 'sandbox:android:EMULATOR,VPN_ENABLED';

const DEVICE: Example = {
  document: `# What is this device, and is it risky?
query DeviceFingerprint($token: String!, $metadata: DeviceMetadataInput) {
  deviceFingerprint(token: $token, metadata: $metadata, eventType: "login") {
    __typename
    ... on DeviceFingerprint {
      decision { action rule }
      signals { name level confidence effect meaning }
      clientType
      deviceBasic {
        __typename
        ... on Mobile { model os { name version } }
        ... on Web { browser { name version } os { name version } }
      }
      ipInfo { ip }
      device { id }
    }
    ... on DeviceFingerprintRejected { reason errors { field reason type } }
  }
}`,
  variables: { token, metadata: { accountId: 'account-1' } },
};

const JUDGEMENT: Example = {
  document: `# What does a service look up once, and store with its decision?
query JudgeDevice($token: String!) {
  deviceFingerprint(token: $token, eventType: "checkout") {
    __typename
    ... on DeviceFingerprint { judgement { sealed decision { action rule } } }
  }
}`,
  variables: { token },
};

/** The answer of JudgeDevice for `sandbox:android:EMULATOR@ada#order-1`, sealed with the key of sandbox mode. */
const sealed =
  'eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoic2FuZGJveCIsInR5cCI6ImRldmljZS1qdWRnZW1lbnQrandlIn0.UKbLQH54TGbZaip89jYxj0Qu445ikge0EPkmIevLSsQACkWcSy22tg.kd-eZMlEp80HsXf8.UODT7ckoHSDEWwJp_xKk9YiGyOs3j-YpoKQPK0Qz2XoWBlKgyUZ57o0f8oerQwYorL-qcmPYMFpFBFdzKnBv1EU5vwufYcANtjVOzjnRecXWQJeSErfmmqSmX1FHZwWnm3YLOtHRhHFtBBR3-46uso1WQP4TVnEnPO9ZbkZp8nRnnGOAv_Omlbn9CPJG6kTZJmZydsZHss6BzqzFHh8EnBf6ehccUq168TokA_HdJlJTHF-xfgZg9jwMlTva-f4FK_4GEv5Oq-h4Z6CvxWFOEFrbxrHqsem862LlOKMlVqDqBVpWLR4hLSenCoZFADVRRDjz8b4A2R4mp6lNiC8-oJbct6nCz6W76ArYscC3j-XAKGhXLuyDM-ldNPGZcohFjwXvlST1U-l92mEsngS3oT86X0yeQFf1bQn6yQOOblLc-LFimUCnevRsJklIprXu5PanrUttEsNl26EmfEiYbiOxE4JeDr5dgUGfZRVgQCjE9uVlScsHoRTv_HuRmdHKnk1u_ock82qXnIAJ-XoUJKwYS1yJEts.nHtEN7eNcWbJFaxaMGaS6w';

const STORED_JUDGEMENT: Example = {
  document: `# What did a stored judgement say? A router sends this for the reference that a service returns.
query StoredJudgement($representations: [_Any!]!) {
  _entities(representations: $representations) {
    __typename
    ... on DeviceJudgement { judgedAt eventType decision { action rule policy } signals { name level } device { id } }
  }
}`,
  variables: { representations: [{ __typename: 'DeviceJudgement', sealed }] },
};

const CATALOGUE: Example = {
  document: `# Which signals are there?
query SignalCatalogue { signalCatalogue { code level confidence effect meaning } }`,
  variables: {},
};

const CAPTCHA = `# Did a human really solve this captcha?
mutation ValidateCaptcha($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) {
    __typename
    proceed
    ... on CaptchaPassed { details { usedType userIp scene referer } }
    ... on CaptchaFailed { reason category }
    ... on CaptchaIndeterminate { cause code message }
  }
}`;

const ATTESTATION = `# Which proof does a page pass on to the service that verifies it?
mutation AttestCaptcha($attested: ValidateCaptchaInput!) {
  validateCaptcha(input: $attested) { __typename attestation }
}`;

/** Every example of these services. Each captcha example works, because it has a challenge of its own, issued just now. */
export async function operationsWith(challengeUrl: string, services: readonly string[]): Promise<Example[]> {
  const devices = services.includes('fingerprint') ? [DEVICE, JUDGEMENT, STORED_JUDGEMENT, CATALOGUE] : [];
  if (!services.includes('captcha')) return devices;
  const [input, other] = await Promise.all([solvedInput(challengeUrl), solvedInput(challengeUrl)]);
  const attested = { ...other, audience: 'orders', action: 'placeOrder' };
  return [...devices, { document: CAPTCHA, variables: { input } }, { document: ATTESTATION, variables: { attested } }];
}

/** The values of a captcha that the sandbox solves just now, with the names of `ValidateCaptchaInput`. */
export async function solvedInput(challengeUrl: string): Promise<Readonly<Record<string, unknown>>> {
  const challenge = await (await fetch(challengeUrl, { method: 'POST' })).json();
  return Object.fromEntries(FIELD_NAMES.map(([sandbox, schema]) => [schema, challenge[sandbox]]));
}

/** The names of the sandbox, with those of the schema. */
const FIELD_NAMES = ['captcha_id', 'lot_number', 'captcha_output', 'pass_token', 'gen_time'].map(
  (name) => [name, name.replace(/_(.)/, (_, letter) => letter.toUpperCase())] as const,
);

/** Shell commands for sandbox mode, with titles. The user fills in the secret, because terminals are recorded. */
export function exampleCommands(
  graphqlUrl: string,
  challengeUrl: string,
  upstreams: readonly string[],
  { routerSecrets, services }: { readonly routerSecrets: readonly unknown[]; readonly services: readonly unknown[] },
): string {
  const isRouter = routerSecrets.length > 0;
  const hasSecrets = isRouter || services.length > 0;
  const header = isRouter ? 'Router-Authorization:' : 'Authorization: Bearer';
  const post = `curl -s --noproxy '*' '${graphqlUrl}' -H 'content-type: application/json'${hasSecrets ? ` -H "${header} $SECRET"` : ''}`;
  const lines: string[] = [];
  const secret = isRouter ? 'one of ROUTER_SECRETS' : 'a secret of SERVICES';
  if (hasSecrets) lines.push('Put your secret here first', `SECRET='${secret}'`);
  for (const { document, variables } of upstreams.includes('fingerprint') ? [DEVICE, CATALOGUE] : []) {
    const { title, query } = partsOf(document);
    lines.push(title, `${post} -d '${JSON.stringify({ query, variables })}'`);
  }
  // A challenge can be verified once, so the command asks for a new challenge, and renames its fields to those of the schema.
  const { title, query } = partsOf(CAPTCHA);
  const rename = FIELD_NAMES.map(([sandbox, schema]) => `s/${sandbox}/${schema}/;`).join('');
  const wrap = `s/.*/{"query":${JSON.stringify(query)},"variables":{"input":&}}/`;
  if (upstreams.includes('captcha'))
    lines.push(title, `curl -s --noproxy '*' -X POST '${challengeUrl}' | sed '${rename}${wrap}' | ${post} -d @-`);
  return lines.join('\n\n');
}

/** The comment of a document, and its operation on one line. */
function partsOf(document: string) {
  const [comment = '', ...lines] = document.split('\n');
  return { title: comment.slice(2), query: lines.join(' ').replace(/\s+/g, ' ') };
}

/** The path of GraphiQL, which needs nothing from the internet. */
export const GRAPHIQL_PATH = '/graphiql';

/** The pages of sandbox mode by their paths. Each time that a page is opened, the sandbox issues challenges for it. */
export function createPages(graphqlPath: string, challengeUrl: string, services: readonly string[]) {
  const operations = () => operationsWith(challengeUrl, services);
  return new Map([
    [graphqlPath, async () => renderApolloSandbox(await operations())],
    [GRAPHIQL_PATH, async () => renderGraphiql(graphqlPath, await operations())],
  ]);
}

/** Apollo Sandbox. It opens with one tab, so one document has all operations. Without internet, GraphiQL opens instead. */
export function renderApolloSandbox(operations: readonly Example[]): string {
  const document = operations.map((operation) => operation.document).join('\n\n');
  const variables = Object.assign({}, ...operations.map((operation) => operation.variables));
  const initialState = { document, variables, headers: operations[0]?.headers };
  const options = JSON.stringify({ target: '#sandbox', initialState, endpointIsEditable: false });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Device trust</title>
    <style>
      body { display: flex; flex-direction: column; height: 100vh; margin: 0; font: 0.875rem sans-serif; }
      p { margin: 0.5rem; }
      #sandbox { flex: 1; }
      iframe { width: 100%; height: 100%; border: none; }
    </style>
  </head>
  <body>
    <p>Apollo Sandbox comes from the internet. <a href="${GRAPHIQL_PATH}">GraphiQL</a> has the same operations and needs none.</p>
    <div id="sandbox"></div>
    <script src="https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js"
      onerror="location.replace('${GRAPHIQL_PATH}')"></script>
    <script>new EmbeddedSandbox({ ...${options.replaceAll('<', '\\u003c')}, initialEndpoint: location.href });</script>
  </body>
</html>`;
}

/** GraphiQL with a tab for each operation. The first call loads its large package. @throws if the package is not installed */
export async function renderGraphiql(endpoint: string, operations: readonly Example[]): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const json = (values: object) => JSON.stringify(values, null, 2);
  const tabs = operations.map(({ document, variables, headers }) => ({
    query: document,
    variables: json(variables),
    ...(headers && { headers: json(headers) }),
  }));
  // Without `query` and `variables`, which the types of the package lack, the first tab would have no variables.
  const options = { endpoint, title: 'Device trust', ...tabs[0], defaultTabs: tabs };
  // The head begins with our elements, because a content security policy in the page applies only to elements after it.
  return renderGraphiQL(options).replace('<head>', () => `<head>${STEADY_TABS}${refreshScript(tabs)}`);
}

/** If its font loads late, GraphiQL moves a tab away from under the mouse during the first click, and the click is lost. */
const STEADY_TABS = '<style>.graphiql-tab { transform: none !important; }</style>';

/** Gives the tabs of the last visit fresh challenges before GraphiQL restores them. `tabs` contain no `<`. */
function refreshScript(tabs: readonly { query: string; variables: string; headers?: string }[]): string {
  return `<script>
  try {
    const fresh = ${JSON.stringify(tabs)};
    const stored = JSON.parse(localStorage.getItem('graphiql:tabState'));
    for (const tab of stored.tabs)
      for (const { query, variables, headers } of fresh)
        if (new RegExp('^(query|mutation) ' + tab.operationName + '\\\\b', 'm').test(query)) {
          if (variables.includes('lotNumber')) tab.variables = variables;
          if (headers) tab.headers = headers;
        }
    localStorage.setItem('graphiql:tabState', JSON.stringify(stored));
  } catch {
    // Nothing usable is stored.
  }
</script>`;
}
