import { describe, expect, test } from 'vitest';
import { CANARY, LIVE, problemsOf } from './support.ts';

/** Which names in an environment are refused as mistyped, and which are left alone. */

const refusal = (name: string, meant?: string) =>
  `${name}: there is no such variable. ${meant ? `Did you mean ${meant}?` : 'Correct the name or remove it.'}`;

describe('a name that is unknown', () => {
  test.each([
    ['MAX_CAPTCHA', 'MAX_CAPTCHAS'],
    ['Max_Captchas', 'MAX_CAPTCHAS'],
    ['MAXCAPTCHAS', 'MAX_CAPTCHAS'],
    ['FINGERPRINT_TIMEOUT_MSEC', 'FINGERPRINT_TIMEOUT_MS'],
    ['SHUTDOWN_GRACE', 'SHUTDOWN_GRACE_MS'],
    ['CAPTHCA_FAIL_OPEN', 'CAPTCHA_FAIL_OPEN'],
    ['FINGERPRINT_URL_EU_FILE', 'FINGERPRINT_URL_EU'],
    ['ROUTER_SECRETS_FIEL', 'ROUTER_SECRETS_FILE'],
    ['SERVCIES', 'SERVICES'],
    ['PROT', 'PORT'],
    ['OTEL_TRACES_SAMPLER_ARGS', 'OTEL_TRACES_SAMPLER_ARG'],
  ])('%s refuses the start and names %s', (name, meant) => {
    expect(problemsOf({ ...LIVE, [name]: CANARY })).toEqual([refusal(name, meant)]);
  });

  test.each(['MAX_FUN', 'CAPTCHA_COLOUR_OF_THE_BUTTON', 'ROUTER_ADDRESS', 'ALLOW_EVERYTHING', 'SHUTDOWN_NOW'])(
    '%s begins with a word of ours, and resembles no variable',
    (name) => {
      expect(problemsOf({ ...LIVE, [name]: CANARY })).toEqual([refusal(name)]);
    },
  );

  test('is reported in the sandbox as well, and each one has its sentence', () => {
    expect(problemsOf({ UPSTREAM_MODE: 'sandbox', MAX_CAPTCHA: '1', LOG_LEVL: 'info' })).toEqual([
      refusal('MAX_CAPTCHA', 'MAX_CAPTCHAS'),
      refusal('LOG_LEVL', 'LOG_LEVEL'),
    ]);
  });
});

test('an environment as shells, containers and other software make it refuses nothing', () => {
  const names = `
    PATH HOME PWD OLDPWD SHELL SHLVL TERM USER LOGNAME LANG LC_ALL TZ EDITOR _ HOSTNAME HOSTS HOSTTYPE host port
    POST PORTS SPORT COST GHOST MAIL MAX ALLOW SANDBOX SERVICE TRUSTED_PROXIES NODE_ENV NODE_OPTIONS NODE_VERSION
    NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS NO_COLOR FORCE_COLOR npm_config_cache npm_config_user_agent
    npm_lifecycle_event npm_package_name INIT_CWD YARN_VERSION HTTP_PROXY https_proxy no_proxy HTTP_PORT HTTPS_PORT
    SERVER_PORT DB_HOST REDIS_HOST MAIN_PORT LOG_FILE LOG_FORMAT LOG_DIR LOG_LABEL LOG_COLOR ADMIN_USER ADMIN_EMAIL
    ADMIN_PASSWORD ADMIN_HOST OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_PROTOCOL OTEL_PROPAGATORS
    OTEL_LOGS_EXPORTER OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_TIMEOUT OTEL_BSP_MAX_QUEUE_SIZE
    OTEL_SDK_DISABLED AWS_REGION POD_NAME POD_IP NAMESPACE CI GITHUB_SHA DEBIAN_FRONTEND SSH_AUTH_SOCK DISPLAY`
    .trim()
    .split(/\s+/);
  const environment = Object.fromEntries(names.map((name) => [name, 'anything']));
  expect(problemsOf({ ...LIVE, ...environment })).toEqual([]);
});

describe('variables of Kubernetes', () => {
  test('for a service that is called like our variables refuse nothing', () => {
    const ofKubernetes = {
      KUBERNETES_SERVICE_HOST: '10.0.0.1',
      KUBERNETES_PORT: 'tcp://10.0.0.1:443',
      CAPTCHA_SERVICE_HOST: '10.0.0.1',
      CAPTCHA_SERVICE_PORT: '443',
      CAPTCHA_SERVICE_PORT_HTTPS: '443',
      CAPTCHA_PORT: 'tcp://10.0.0.1:443',
      CAPTCHA_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
      CAPTCHA_PORT_8080_TCP_ADDR: '10.0.0.1',
      FINGERPRINT_API_PORT_443_TCP_ADDR: '10.0.0.1',
      ROUTER_PORT_53_UDP_PROTO: 'udp',
    };
    expect(problemsOf({ ...LIVE, ...ofKubernetes })).toEqual([]);
  });

  test('differ from a mistyped port by their value', () => {
    expect(problemsOf({ ...LIVE, SANDBX_PORT: '4200' })).toEqual([refusal('SANDBX_PORT', 'SANDBOX_PORT')]);
    expect(problemsOf({ ...LIVE, CAPTCHA_PORT: '443' })).toHaveLength(1);
  });
});
