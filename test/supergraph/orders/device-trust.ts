/** How this service asks the device-trust subgraph: directly, with a secret of its own, and on behalf of the customer. */

/** Where that subgraph answers, and the secret of this service there (`SERVICES`, with the scope `risk:read`). */
export interface DeviceTrustConfig {
  readonly url: string;
  readonly secret: string;
  /** How long one judgement may take, in ms: longer than the subgraph's own deadline. */
  readonly timeoutMs?: number;
}

/** What is stored about the device of a checkout. */
export interface Judgement {
  /** The whole record, encrypted. Whoever refers to it by this text makes no event. */
  readonly sealed: string;
  readonly action: 'ALLOW' | 'CHALLENGE' | 'DENY';
  readonly deviceId: string;
  /** The line of this judgement in the subgraph's log has this id. */
  readonly requestId: string;
}

/**
 * Asks for a judgement of this token, which is an event of the fingerprint service. Rejects if nobody knows: no answer in time,
 * an error, or one without a decision or a sealed text.
 */
export type Judge = (deviceToken: string, customerId: string) => Promise<Judgement | 'TOKEN_REJECTED'>;

const DOCUMENT = `query JudgeCheckout($token: String!) {
  deviceFingerprint(token: $token, eventType: "checkout") {
    __typename
    ... on DeviceFingerprint { judgement { sealed decision { action } device { id } } }
  }
}`;

export function createJudge({ url, secret, timeoutMs = 4_000 }: DeviceTrustConfig): Judge {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` };
  return async (token, customerId) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'x-user-id': customerId },
      body: JSON.stringify({ query: DOCUMENT, variables: { token } }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const { data } = await response.json();
    const answer = data?.deviceFingerprint;
    if (answer?.__typename === 'DeviceFingerprintRejected') return 'TOKEN_REJECTED';
    const { sealed, decision, device } = answer?.judgement ?? {};
    if (!sealed || !decision || !device) throw new Error('expected a judgement with a decision, but got none');
    const requestId = response.headers.get('x-request-id') ?? '';
    return { sealed, action: decision.action, deviceId: device.id, requestId };
  };
}
