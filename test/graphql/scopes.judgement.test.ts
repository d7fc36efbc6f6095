import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ANDROID } from '../faults/documented.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { SEALING_KEYS } from '../support/judgements.ts';
import { type GraphqlAnswer, post } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** Decisions and judgements, fresh and stored, need the scope `risk:read`. */

const ROUTER = 'the-secret-of-the-router';
const upstream = await startUpstream((_request, response) => sendJson(response, 200, ANDROID));
const { url } = upstream;
const app = await startInLiveMode(
  { GLB: url, NA: url, EU: url },
  { sealingKeys: SEALING_KEYS, routerSecrets: [ROUTER], trustedHeaders: { scopes: 'x-user-scopes' } },
);
afterAll(() => Promise.all([app.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
});

const WITH = 'openid risk:read';
const WITHOUT = 'openid';
const ask = (scopes: string, query: string, variables = {}) =>
  post(app.graphqlUrl, JSON.stringify({ query, variables }), {
    'router-authorization': ROUTER,
    'x-user-scopes': scopes,
  });
const judge = (fields: string) => `{ deviceFingerprint(token: "t") { ... on DeviceFingerprint { ${fields} } } }`;
const OPEN = `query ($references: [_Any!]!) {
  _entities(representations: $references) {
    ... on DeviceJudgement { sealed eventId subject decision { action } signals { code } device { id } }
  }
}`;
const forbiddenAt = ({ errors = [] }: GraphqlAnswer) =>
  errors.map(({ path, extensions }) => {
    expect(extensions).toEqual({ code: 'FORBIDDEN', retryable: false });
    return path?.join('.');
  });
/** All samples about judgements and decisions. */
const counted = async () => {
  const { samples } = await readMetrics(app);
  return samples.filter(({ name }) => /_(judgements|decisions)_total$/.test(name));
};

// Apollo Server answers a document at first, and compiled code once it was sent several times.
const TIMES = [1, 2, 3, 4, 5];

describe('without the scope', () => {
  test('the decision and the judgement of a device are null, nothing is decided or sealed, and the rest is whole', async () => {
    const before = await counted();
    for (const _time of TIMES) {
      const answer = await ask(WITHOUT, judge('clientType decision { action rule } judgement { sealed }'));
      expect(answer.data.deviceFingerprint).toEqual({ clientType: 'ANDROID', decision: null, judgement: null });
      expect(forbiddenAt(answer)).toEqual(['deviceFingerprint.decision', 'deviceFingerprint.judgement']);
    }
    expect(await counted()).toEqual(before);
  });

  test.each(['decision { action }', 'judgement { sealed }'])('nothing is asked for %s alone', async (fields) => {
    for (const _time of TIMES) expect(forbiddenAt(await ask(WITHOUT, judge(fields)))).toHaveLength(1);
    expect(upstream.received).toEqual([]);
  });

  test('a stored judgement is not opened, whether it could be or not, and what is beside it is whole', async () => {
    const { data } = await ask(WITH, judge('judgement { sealed }'));
    const { sealed } = data.deviceFingerprint.judgement;
    const before = await counted();
    const references = [sealed, 'made up'].map((text) => ({ __typename: 'DeviceJudgement', sealed: text }));
    for (const _time of TIMES) {
      const answer = await ask(WITHOUT, OPEN, { references });
      expect(answer.data._entities).toEqual([null, null]);
      expect(forbiddenAt(answer)).toEqual(['_entities.0', '_entities.1']);
      expect(answer.text).not.toContain(sealed);
    }
    expect(await counted()).toEqual(before);
  });
});

test('with the scope all of it is there', async () => {
  for (const _time of TIMES) {
    const { data, errors } = await ask(WITH, judge('eventId decision { action } judgement { sealed }'));
    expect(errors).toBeUndefined();
    const { eventId, decision, judgement } = data.deviceFingerprint;
    const opened = await ask(WITH, OPEN, {
      references: [{ __typename: 'DeviceJudgement', sealed: judgement.sealed }],
    });
    expect(opened.errors).toBeUndefined();
    expect(opened.data._entities).toMatchObject([{ eventId, decision, device: { id: expect.any(String) } }]);
  }
});
