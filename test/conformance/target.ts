import { expect, test } from 'vitest';

/** What the audits run against: the sandbox or a live vendor, and what has to be known about it. */

export const REGIONS = ['GLB', 'NA', 'EU'] as const;
export type Region = (typeof REGIONS)[number];

/** Every way to be at the node of another region. */
export const REGION_PAIRS = REGIONS.flatMap((home) =>
  REGIONS.filter((node) => node !== home).map((node) => ({ home, node })),
);

export interface Application {
  /** Base address of the node that serves the application's region. */
  readonly url: string;
  readonly publicKey: string;
  readonly secret: string;
}

export interface CaptchaAccount {
  readonly url: string;
  readonly captchaId: string;
  readonly captchaKey: string;
}

/** What a client holds after a user solved a captcha. */
export interface Challenge {
  readonly lot_number: string;
  readonly captcha_output: string;
  readonly pass_token: string;
  readonly gen_time: string;
}

/** Everything an audit can ask for. Tokens are named after what they make the service answer. */
export interface Equipment {
  readonly application: Application;
  readonly applications: Readonly<Record<Region, Application>>;
  readonly disabledApplication: Application;
  /** An application whose allow-list leaves the caller out, and an address that is on the list. */
  readonly excludedApplication: Application & { readonly allowedAddress: string };

  readonly token: string;
  readonly androidToken: string;
  readonly iosToken: string;
  readonly webToken: string;
  readonly quietToken: string;
  readonly brokenToken: string;
  readonly tokenWithSignals: (signals: readonly string[]) => string;

  readonly captcha: CaptchaAccount;
  readonly captchas: Readonly<Record<Region, CaptchaAccount>>;
  readonly deletedCaptcha: CaptchaAccount;
  readonly pausedCaptcha: CaptchaAccount;
  readonly solve: (account: CaptchaAccount) => Promise<Challenge>;
  /** A lot number that makes a verification fail for a reason, or raise an exception. */
  readonly failingLotNumber: (reason: string) => string;
  readonly raisingLotNumber: (code: string) => string;
}

/** Any part may be missing: the audits that need it do not apply to that target. */
export type Target = Partial<Equipment>;

export interface Audit {
  /** `FP` or `CA`, the document's section, and the rule. Stable: other people's reports cite it. */
  readonly id: string;
  readonly name: string;
  readonly needs: readonly (keyof Equipment)[];
  readonly fn: (target: Target) => Promise<void>;
}

/** One row of an audit list. */
export function audit<const N extends keyof Equipment>(
  id: string,
  name: string,
  needs: readonly N[],
  fn: (equipment: Pick<Equipment, N>) => Promise<void>,
): Audit {
  // Safe: it runs only against a target that has all that it needs.
  return { id, name, needs, fn: (target) => fn(target as Pick<Equipment, N>) };
}

/** An audit may send some dozen requests, and a live vendor is far away. */
const TIMEOUT_MS = 60_000;

/** One test an audit. An audit that lacks something is skipped, and its name says what. */
export function register(audits: readonly Audit[], target: Target): void {
  for (const { id, name, needs, fn } of audits) {
    const missing = needs.filter((need) => target[need] === undefined);
    if (missing.length > 0) test.skip(`${id} ${name} (not applicable: the target has no ${missing.join(', ')})`);
    else test(`${id} ${name}`, { timeout: TIMEOUT_MS }, () => fn(target));
  }
}

/** Gets a solved challenge from the sandbox, or from a team's own solver that answers in the same way. */
export async function takeChallenge(issuer: string, captchaId: string): Promise<Challenge> {
  const response = await fetch(`${issuer}?${new URLSearchParams({ captcha_id: captchaId })}`, { method: 'POST' });
  return response.json();
}

export interface Reply {
  readonly status: number;
  /** The JSON body, parsed. */
  readonly body: unknown;
}

/** One request, answered as JSON; both documents answer nothing else. */
export async function send(url: string, { body, ...init }: RequestInit & { body?: string }): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    // As bytes: for a string, fetch would add a Content-Type that the audit did not ask for.
    body: body === undefined ? null : new TextEncoder().encode(body),
    redirect: 'manual',
    signal: AbortSignal.timeout(10_000),
    ...init,
  });
  expect(response.headers.get('content-type')).toMatch(/^application\/json\s*(;|$)/i);
  return { status: response.status, body: await response.json() };
}
