import packageJson from '../../package.json' with { type: 'json' };

/** Sent with calls and probes. Without `Accept-Encoding` a service may choose any coding (RFC 9110, 12.5.3). */
export const CLIENT_HEADERS = {
  'user-agent': `${packageJson.name}/${packageJson.version}`,
  'accept-encoding': 'identity',
};

/** A configured account of an upstream service, prepared for calls. */
export interface Account {
  /** The public key or captcha id, which is no secret. */
  readonly id: string;
  /** Each region has a bulkhead of its own: the failure of one must not affect another. */
  readonly region: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** May hold a secret. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
}
