import { graphql } from './generated/gql.ts';

/**
 * The desk's one operation. `npm run codegen` types it from the whole schema. It makes no event, because checkouts refer to their
 * judgements by the sealed text.
 */
export const CHECKOUTS = graphql(`
  query Checkouts {
    checkouts(first: 100) {
      startedAt
      item
      customer { name }
      status
      captcha
      decision
      notJudged
      judgement { decision { rule } signals { name } }
    }
  }
`);
