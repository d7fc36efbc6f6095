import type { FAIL_OPEN_POLICIES, LOG_LEVELS, Region } from './values.ts';

/** What the process is told from outside. Parsed at the start, and again when a secret in a file may have changed. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Whoever presents one of these may ask; with none, anyone may. */
  readonly routerSecrets: readonly string[];
  readonly upstreams: SandboxUpstreams | LiveUpstreams;
  readonly fingerprintTimeoutMs: number;
  readonly captchaTimeoutMs: number;
  readonly captchaFailOpen: (typeof FAIL_OPEN_POLICIES)[number];
  readonly limits: RequestLimits;
  readonly load: LoadLimits;
  readonly logLevel: LogLevel;
  /** Makes hashes of tokens comparable between processes; without one each process has its own. */
  readonly logHashKey: string | undefined;
  /** Where metrics are served; 0 picks a free port. */
  readonly adminPort: number;
  /** Base address of an OTLP receiver; without one nothing is traced. */
  readonly otlpEndpoint: string | undefined;
}

type LogLevel = (typeof LOG_LEVELS)[number];

/** How much one request may ask. */
interface RequestLimits {
  readonly bodyBytes: number;
  readonly tokens: number;
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  readonly representations: number;
  /** Calls to the fingerprint service. */
  readonly upstreamCalls: number;
  readonly captchas: number;
}

/** How much all may ask together. */
export interface LoadLimits {
  /** Connections of callers. */
  readonly connections: number;
  /** Calls under way to one service in one region. */
  readonly inFlight: number;
  /** Calls that wait for one of those to end. */
  readonly queue: number;
  /** How late, in ms, the event loop may run before requests are turned away. */
  readonly eventLoopDelayMs: number;
  /** Between failing readiness and closing the door when the process stops, in ms. */
  readonly shutdownGraceMs: number;
}

/** The embedded sandbox serves, with its own applications and captcha ids. */
interface SandboxUpstreams {
  readonly mode: 'sandbox';
  /** Of its GLB listener; NA and EU follow. 0 picks free ones. */
  readonly port: number;
}

/** The real services serve. Each list's first entry is the one that serves when a caller names none. */
export interface LiveUpstreams {
  readonly mode: 'live';
  readonly applications: readonly { publicKey: string; secret: string; region: Region; baseUrl: string }[];
  readonly captchas: readonly { captchaId: string; captchaKey: string; region: Region; baseUrl: string }[];
}
