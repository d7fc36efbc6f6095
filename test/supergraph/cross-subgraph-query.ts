/** One question through all three subgraphs: who else ordered from the devices that this customer ordered from? */
export const CROSS_SUBGRAPH_QUERY = `query Crossing {
  user(id: "user-1") {
    name
    orders {
      id
      item
      judgement {
        clientType
        signals(minLevel: MEDIUM) { code level confidence effect }
        device {
          orders { id item customer { name } }
        }
      }
    }
  }
}`;
