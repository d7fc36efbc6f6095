import { type Example, GRAPHIQL_PATH, renderApolloSandbox, renderGraphiql, solvedInput } from '../../src/explorer.ts';
import { type Explorer, GRAPHQL_PATH } from '../../src/server/server.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { ORDERS_AUDIENCE } from './orders.ts';
import type { Sessions } from './people.ts';

/** Apollo Sandbox and GraphiQL for the whole supergraph, with operations that work. */

const CHECKOUTS = `# What became of the newest checkouts, and how was each device judged? This makes no event.
query NewestCheckouts {
  checkouts(first: 3) {
    item
    status
    customer { name }
    decision
    judgement { judgedAt clientType signals { code level effect } decision { action rule } }
  }
}`;

const CAPTCHA = `# Did a human solve this captcha? The attestation is for the order subgraph, which verifies it itself.
mutation SolvedCaptcha($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) { __typename proceed attestation }
}`;

const WITHOUT_SCOPE = `query WithoutScope {
  checkouts(first: 1) { item }
  deviceFingerprint(token: "sandbox:android:EMULATOR") { __typename ... on DeviceFingerprint { clientType signals { code } } }
}`;

/**
 * The pages of a gateway that has the whole graph. Each one that is opened has sessions and a challenge of its own.
 *
 * @param challengeUrl where the sandbox issues a solved captcha
 */
export function explorerFor({ signIn }: Pick<Sessions, 'signIn'>, challengeUrl: string): Explorer {
  const operations = async (): Promise<Example[]> => {
    const sessionOf = (name: string) => ({ Authorization: `Bearer ${signIn(name)}` });
    const grace = sessionOf('grace');
    const ada = sessionOf('ada');
    const { audience } = ORDERS_AUDIENCE;
    const input = { ...(await solvedInput(challengeUrl)), audience, action: 'placeOrder' };
    const crossing = `# Who else ordered from the devices that Ada ordered from?\n${CROSS_SUBGRAPH_QUERY}`;
    const withoutScope = `# Who may not see what is judged? Ada of support, who has no scope. Ask this with her headers:\n# ${JSON.stringify(ada)}\n${WITHOUT_SCOPE}`;
    return [
      { document: CHECKOUTS, variables: {}, headers: grace },
      { document: crossing, variables: {}, headers: grace },
      { document: CAPTCHA, variables: { input }, headers: grace },
      { document: withoutScope, variables: {}, headers: ada },
    ];
  };
  return new Map([
    [GRAPHQL_PATH, async () => renderApolloSandbox(await operations())],
    [GRAPHIQL_PATH, async () => renderGraphiql(GRAPHQL_PATH, await operations())],
  ]);
}
