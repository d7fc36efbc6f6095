/** What the processes of the bot and of the people are given, and what they answer. All times in ms. */

export interface BotJob {
  /** Where GraphQL is. */
  readonly url: string;
  /** Where noise at the captcha service can be asked for. */
  readonly noise: string;
  /** Requests and connections a second. */
  readonly rate: number;
  readonly ms: number;
  /** Noise is made until this time after the start. */
  readonly noiseMs: number;
  /** When the bot makes the service throttle everybody's captcha id, counted from the start. */
  readonly throttle: { readonly from: number; readonly to: number };
}

/** What came back to the bot. */
export interface BotResult {
  /** How many requests and connections were sent, by attack. */
  readonly sent: Readonly<Record<string, number>>;
  /** How often each outcome came: an error code, a type, or `lost`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** How often the captcha service was disturbed. */
  readonly noises: number;
  /** Requests that were due while too many others were under way. */
  readonly skipped: number;
  /** Everything that may proceed: when it was sent and answered, in ms since 1970, and the attack. */
  readonly proceeded: readonly (readonly [at: number, answeredAt: number, attack: string])[];
}

export interface PeopleJob {
  readonly url: string;
  /** People a second: each asks about a token and has a captcha verified. */
  readonly rate: number;
  readonly ms: number;
}
