import type { ApolloClient } from '@apollo/client';
import type { Answer } from './answer.ts';
import { make } from './dom.ts';
import { failureView } from './failure.ts';
import type {
  ClientType,
  DeviceFingerprintRejectionReason,
  JudgementFragment,
  RejectionFragment,
} from './generated/graphql.ts';
import { JUDGE_DEVICE } from './operations.ts';
import { signalsView } from './signals.ts';

/** What is this device, and is it risky? */
export async function judgeDevice(client: ApolloClient, token: string): Promise<Answer> {
  const { data, error } = await client.query({ query: JUDGE_DEVICE, variables: { token }, errorPolicy: 'all' });
  const answer = data?.deviceFingerprint;
  switch (answer?.__typename) {
    case 'DeviceFingerprint':
      return judgementAnswer(answer);
    case 'DeviceFingerprintRejected':
      return rejectionAnswer(answer);
    default:
      return { summary: 'There is no judgement.', details: [failureView(error)] };
  }
}

const CLIENTS: Readonly<Record<ClientType, string>> = { ANDROID: 'Android app', IOS: 'iOS app', WEB_H5: 'Web page' };

function judgementAnswer({ clientType, device, deviceBasic, ipInfo, signals }: JudgementFragment): Answer {
  const facts = [
    ['Client', CLIENTS[clientType]],
    ...(deviceBasic.__typename === 'Mobile'
      ? [
          ['Model', words(deviceBasic.model, deviceBasic.architecture)],
          ['System', words(deviceBasic.os.name, deviceBasic.os.version)],
        ]
      : [
          ['Browser', words(deviceBasic.browser.name, deviceBasic.browser.version)],
          ['Machine', words(deviceBasic.device.vendor, deviceBasic.device.model)],
          ['System', words(deviceBasic.os.name, deviceBasic.os.version)],
        ]),
    ['IP address', ipInfo?.ip ?? WITHHELD],
    ['Device id', device?.id ?? WITHHELD],
  ].map(([name, value]) => make('div', '', make('dt', '', name), make('dd', '', value)));
  return {
    summary: `${CLIENTS[clientType]}: ${signals ? summaryOf(signals) : `signals ${WITHHELD}`}.`,
    details: [make('dl', 'facts', ...facts), ...(signals ? [signalsView(signals)] : [])],
  };
}

/** Without the scope `risk:read` these fields are null, and the rest of the judgement is there. */
const WITHHELD = 'not shown to you';

function summaryOf(signals: NonNullable<JudgementFragment['signals']>): string {
  const high = signals.filter(({ level }) => level === 'HIGH').length;
  return `${signals.length} ${signals.length === 1 ? 'signal' : 'signals'}, ${high} of level HIGH`;
}

function words(...parts: readonly (string | null)[]): string {
  return parts.filter(Boolean).join(' ') || 'not known';
}

const REASONS: Readonly<Record<DeviceFingerprintRejectionReason, string>> = {
  INVALID_TOKEN: 'The token is not one that the service issued. Let the client SDK make a new one.',
  INVALID_INPUT: 'Something that was sent is not acceptable. Correct what is named here.',
};

function rejectionAnswer({ reason, errors }: RejectionFragment): Answer {
  const flaws = errors.map((flaw) =>
    make('li', '', make('strong', '', flaw.field), `: ${flaw.reason} `, make('code', '', flaw.type)),
  );
  return {
    summary: 'The service does not judge this.',
    details: [make('p', '', make('strong', 'code', reason), ' ', REASONS[reason]), make('ul', '', ...flaws)],
  };
}
