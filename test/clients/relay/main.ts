import { commitMutation, Environment, fetchQuery, Network, RecordSource, Store } from 'relay-runtime';
import captchaMutation, {
  type operationsCaptchaMutation,
} from './desk/__generated__/operationsCaptchaMutation.graphql.ts';
import judgeQuery, { type operationsJudgeQuery } from './desk/__generated__/operationsJudgeQuery.graphql.ts';

/** Asks each address, and prints what the generated code makes of the answers. */

function environmentAt(url: string): Environment {
  const network = Network.create(async ({ text }, variables) => {
    const body = JSON.stringify({ query: text, variables });
    const answer = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return JSON.parse(await answer.text());
  });
  return new Environment({ network, store: new Store(new RecordSource()) });
}

async function judge(environment: Environment): Promise<string | undefined> {
  const variables = { token: 'sandbox:android:EMULATOR' };
  const data = await fetchQuery<operationsJudgeQuery>(environment, judgeQuery, variables).toPromise();
  const device = data?.deviceFingerprint;
  return device?.__typename === 'DeviceFingerprint' ? device.decision?.action : 'other';
}

function captcha(environment: Environment): Promise<string> {
  const input = { lotNumber: 'sandbox:fail:pass_token expire', captchaOutput: 'o', passToken: 'p', genTime: '1' };
  return new Promise((resolve, onError) => {
    commitMutation<operationsCaptchaMutation>(environment, {
      mutation: captchaMutation,
      variables: { input },
      onError,
      onCompleted: ({ validateCaptcha: outcome }) =>
        resolve(outcome?.__typename === 'CaptchaFailed' && outcome.category ? outcome.__typename : 'other'),
    });
  });
}

for (const url of process.argv.slice(2)) {
  const environment = environmentAt(url);
  process.stdout.write(`${await judge(environment)} ${await captcha(environment)}\n`);
}
