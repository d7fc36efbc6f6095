import { graphql } from './generated/gql.ts';

/**
 * Everything that the desk asks the supergraph. `npm run codegen` types it from the whole schema. Nothing but `JudgeAgain` makes
 * an event, because checkouts refer to their judgements by the sealed text.
 */

export const CHECKOUTS = graphql(`
  query Checkouts($after: ID, $decision: CheckoutDecision) {
    checkouts(first: 25, after: $after, decision: $decision) {
      next
      items {
        ...Summary
        judged
        judgement { decision { action rule } }
      }
    }
  }

  fragment Summary on Checkout {
    id
    startedAt
    status
    refusal
    item
    customer { id name }
    order { id }
  }
`);

export const CHECKOUT = graphql(`
  query Checkout($id: ID!) {
    checkout(id: $id) { ...Detail }
  }

  fragment Detail on Checkout {
    ...Summary
    judged
    judgement {
      ...Judgement
      device { id checkouts(first: 50) { ...Summary } }
    }
    laterJudgements { askedAt askedBy judgement { ...Judgement } }
  }

  fragment Judgement on DeviceJudgement {
    judgedAt
    eventType
    eventId
    requestId
    clientType
    deviceBasic {
      __typename
      ... on Mobile { model architecture os { name version } }
      ... on Web { browser { name version } device { vendor model } os { name version } }
    }
    device { id }
    ipInfo { ip }
    signals { name code level confidence effect meaning }
    decision { action rule policy }
  }
`);

export const JUDGE_AGAIN = graphql(`
  mutation JudgeAgain($id: ID!) {
    judgeAgain(id: $id) { ...Detail }
  }
`);
