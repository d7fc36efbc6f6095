import { gql } from 'graphql-tag';
import { z } from 'zod';
import { entryOf, identifier, listOf, secretList } from '../../src/config/json-values.ts';
import { address, matching, type Table, type Values } from '../../src/config/values.ts';
import { badUserInput, DeviceTrustError } from '../../src/errors.ts';
import type { RequestContext } from '../../src/graphql/context.ts';
import type { Slice, StartOptions } from '../../src/slice.ts';
import { UpstreamClient } from '../../src/upstream/client.ts';
import { evidenceOfStatus, type ProbeResult } from '../../src/upstream/probe.ts';
import { quota, timeoutMs } from '../../src/upstream/settings.ts';
import { type Account, CLIENT_HEADERS, type UpstreamResponse } from '../../src/upstream/transport.ts';

/** A third upstream, as the recipe in `src/README.md` describes it: one POST, a score, and no regions. */

const PATH = '/score';

const secret = matching('visible ASCII characters', (text) => /^[!-~]+$/.test(text));
const accounts = secretList('a JSON list of {"id", "secret"}', listOf(entryOf({ id: identifier, secret }), 'id'));

const VARIABLES = {
  scoreAccounts: { name: 'SCORE_ACCOUNTS', ...accounts, live: true },
  scoreUrl: { name: 'SCORE_URL', ...address },
  scoreTimeoutMs: { name: 'SCORE_TIMEOUT_MS', ...timeoutMs, default: '1000' },
  scoreQuota: { name: 'SCORE_QUOTA', ...quota },
} as const satisfies Table;

type Rows = typeof VARIABLES;
type Settings = Values<Rows>;

const scoresOf = (context: RequestContext) => context.requestOf<ScoreRequest>('score');

export const scoreSlice: Slice<Rows> = {
  name: 'score',
  typeDefs: gql`
    extend type Query {
      "The score of a person, from 0 to 1."
      score(person: ID!): Float
    }
  `,
  resolvers: { Query: { score: (_root, { person }, context) => scoresOf(context).of(person) } },
  variables: VARIABLES,
  accounts: 'scoreAccounts',
  quota: 'scoreQuota',
  rules: ({ isSet, refuse }, isLive) =>
    refuse(isLive && isSet('scoreAccounts') && !isSet('scoreUrl'), 'scoreUrl', address.expected, 'nothing'),
  summary: ({ scoreUrl }) => [`score: ${scoreUrl ? 'on' : 'off'}`],
  unused: () => [],
  start: openScoreService,
};

const answer = z.object({ score: z.number().min(0).max(1) });

type ScoreRequest = ReturnType<ReturnType<typeof openScoreService>['forRequest']>;

function openScoreService({ settings, shared, registry }: StartOptions<Rows>) {
  const scores = registry.counter('scores_total', 'Scores of people');
  const upstream = new UpstreamClient({
    ...shared,
    accounts: accountsOf(settings),
    probeOf: (account) => ({ ...account, body: () => '{"person":""}', classify: probeResultOf }),
    pathTemplate: PATH,
    timeoutMs: settings.scoreTimeoutMs,
  });

  /** The object of a request. */
  const forRequest = (context: RequestContext) => ({
    of(person: string): Promise<number> {
      const account = upstream.find(undefined);
      if (!account) throw badUserInput('person', 'an account', 'none', 'SCORE_ACCOUNTS');
      return upstream.call({ account, body: JSON.stringify({ person }), context }, ({ status, json }) => {
        const { data } = answer.safeParse(json);
        const code = status >= 500 ? 'UPSTREAM_UNAVAILABLE' : 'UPSTREAM_PROTOCOL_ERROR';
        const error = new DeviceTrustError(code, { internal: `HTTP status ${status}` });
        if (!data) return { result: error, evidence: evidenceOfStatus(status), outcome: undefined };
        scores.inc();
        if (data.score > 0.9) shared.log.warn({ service: 'score', account: account.id }, 'a score is very high');
        return { result: data.score, evidence: 'well', outcome: 'ok' };
      });
    },
  });
  return { upstream, forRequest };
}

function accountsOf({ scoreAccounts, scoreUrl }: Settings): Account[] {
  return scoreAccounts.map(({ id, secret }) => {
    const { origin, pathname: path } = new URL(`${scoreUrl}${PATH}`);
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...CLIENT_HEADERS };
    return { id, origin, path, headers };
  });
}

const probeResultOf = ({ status }: UpstreamResponse): ProbeResult => ({
  evidence: status === 400 ? 'well' : evidenceOfStatus(status),
  reason: `HTTP status ${status}`,
});
