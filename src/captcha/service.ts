import { type SharedOptions, UpstreamClient } from '../upstream/client.ts';
import { type AttestationConfig, AttestationIssuer } from './attestation.ts';
import type { CaptchaParts } from './captcha-request.ts';
import { type Captcha, CaptchaClient, type ConfiguredCaptcha, captchaProbe, prepareCaptcha } from './client.ts';
import { VALIDATE_TEMPLATE } from './contract.ts';
import type { CaptchaMetrics } from './metrics.ts';
import type { CaptchaSettings } from './settings.ts';

type Options = SharedOptions &
  Pick<CaptchaSettings, 'captchaTimeoutMs' | 'captchaFailOpen' | 'maxCaptchas'> & { readonly metrics: CaptchaMetrics };

/** The captcha service, with the attestations of its verdicts. */
export class CaptchaService implements CaptchaParts {
  readonly upstream: UpstreamClient<Captcha>;
  readonly attestations: AttestationIssuer;
  readonly client: CaptchaClient;
  readonly maxCaptchas: number;

  constructor(options: Options, captchas: readonly ConfiguredCaptcha[], attestation: AttestationConfig | undefined) {
    const { metrics, captchaTimeoutMs: timeoutMs } = options;
    this.maxCaptchas = options.maxCaptchas;
    this.upstream = new UpstreamClient({
      ...options,
      service: 'captcha',
      accounts: captchas.map(prepareCaptcha),
      probeOf: captchaProbe,
      pathTemplate: VALIDATE_TEMPLATE,
      timeoutMs,
    });
    this.attestations = new AttestationIssuer(attestation, { captchas: this.upstream, metrics });
    this.client = new CaptchaClient({ ...options, upstream: this.upstream });
  }

  /** Replaces all captcha ids at once. Requests under way keep theirs. */
  replace(captchas: readonly ConfiguredCaptcha[]): void {
    this.upstream.replace(captchas.map(prepareCaptcha));
  }
}
