import { graphql } from './generated/gql.ts';

/**
 * Everything that the desk asks the supergraph. `npm run codegen` types it from the whole schema. Nothing of it makes an event,
 * because checkouts refer to their judgements by the sealed text.
 */

export const CHECKOUTS = graphql(`
  query Checkouts {
    checkouts(first: 100) { ...Summary judgement { decision { rule } } }
  }

  fragment Summary on Checkout {
    id
    startedAt
    item
    customer { id name }
    status
    refusal
    order { id }
    captcha
    decision
    notJudged
  }
`);

export const CHECKOUT = graphql(`
  query Checkout($id: ID!) {
    checkout(id: $id) { ...Summary judgement { ...Judgement } }
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
    device { id orders { checkout { ...Summary } } }
    ipInfo { ip }
    signals { name level confidence effect meaning }
    decision { rule policy }
  }
`);
