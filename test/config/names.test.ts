import { expect, test } from 'vitest';
import { unusedNames } from '../../src/config/parser.ts';
import { VARIABLES } from '../../src/settings/variables.ts';
import { SLICES } from '../../src/slices.ts';
import { CANARY, LIVE, parse, problemsOf } from './support.ts';

/** Which names in an environment are refused as mistyped, which are named, and which are left alone. */

test.each([
  ['MAX_CAPTCHA', 'MAX_CAPTCHAS'],
  ['FINGERPRINT_TIMEOUT_MSEC', 'FINGERPRINT_TIMEOUT_MS'],
  ['SHUTDOWN_GRACE', 'SHUTDOWN_GRACE_MS'],
  ['FINGERPRINT_URL_EU_FILE', 'FINGERPRINT_URL_EU'],
  ['ROUTER_SECRETS_FIEL', 'ROUTER_SECRETS_FILE'],
  ['PROT', 'PORT'],
  ['ROUTER_SECRET', 'ROUTER_SECRETS'],
])('%s, a name that is unknown, refuses the start in each mode, and names %s', (name, meant) => {
  for (const mode of [LIVE, { UPSTREAM_MODE: 'sandbox' }])
    expect(problemsOf({ ...mode, [name]: CANARY })).toEqual([
      `${name}: there is no such variable. Did you mean ${meant}?`,
    ]);
});

test('a name that resembles a variable which is set belongs to another program, such as the ROUTER_SECRET of a router', () => {
  const secret = 'secret-of-the-router';
  for (const own of [{ ROUTER_SECRETS: secret }, { ROUTER_SECRETS_FILE: '/router' }]) {
    const { ALLOW_DIRECT_ACCESS: _, ...rest } = LIVE;
    expect(problemsOf({ ...rest, ...own, ROUTER_SECRET: secret }, { '/router': secret })).toEqual([]);
  }
});

// https://kubernetes.io/docs/concepts/containers/container-environment/#cluster-information
test.each([
  ['SANDBOX', 'tcp://10.96.0.12:4100', '10.96.0.12'],
  ['ADMIN', 'udp://[fd00::12]:9464', 'fd00::12'],
])('the variables of a Kubernetes service named %s count as not set', (service, link, host) => {
  const env = {
    [`${service}_SERVICE_HOST`]: host,
    [`${service}_SERVICE_PORT`]: '80',
    [`${service}_PORT`]: link,
    [`${service}_PORT_80_TCP`]: link,
    [`${service}_PORT_80_TCP_PORT`]: '80',
    [`${service}_PORT_80_TCP_ADDR`]: host,
  };
  expect(parse({ ...LIVE, ...env })).toEqual(parse(LIVE));
});

test('an environment as shells, containers and other software make it refuses nothing', () => {
  const names = `
    PATH HOME PWD OLDPWD SHELL SHLVL TERM USER LOGNAME LANG LC_ALL TZ EDITOR _ HOSTNAME HOSTS HOSTTYPE host port
    POST PORTS SPORT COST GHOST MAIL MAX ALLOW SANDBOX SERVICE TRUSTED_PROXIES NODE_ENV NODE_OPTIONS NODE_VERSION
    NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS NO_COLOR FORCE_COLOR npm_config_cache npm_config_user_agent
    npm_lifecycle_event npm_package_name INIT_CWD YARN_VERSION HTTP_PROXY https_proxy no_proxy HTTP_PORT HTTPS_PORT
    SERVER_PORT DB_HOST REDIS_HOST MAIN_PORT LOG_FILE LOG_FORMAT LOG_DIR LOG_LABEL LOG_COLOR ADMIN_USER ADMIN_EMAIL
    ADMIN_PASSWORD ADMIN_HOST MAX_WORKERS MAX_TOKENS MAX_DEPTH ALLOW_EMPTY_PASSWORD ROUTER_ID ROUTER_ADDRESS RISK_LEVEL
    CAPTCHA_SERVICE_HOST CAPTCHA_PORT CAPTCHA_PORT_8080_TCP_ADDR CAPTCHA_SITE_KEY SHUTDOWN_TIMEOUT UPSTREAM_URL
    OTEL_PROPAGATORS OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_BSP_MAX_QUEUE_SIZE AWS_REGION POD_NAME POD_IP
    NAMESPACE CI GITHUB_SHA DEBIAN_FRONTEND SSH_AUTH_SOCK DISPLAY`
    .trim()
    .split(/\s+/);
  const environment = Object.fromEntries(names.map((name) => [name, 'anything']));
  expect(problemsOf({ ...LIVE, ...environment })).toEqual([]);
});

// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
test.each<[string, string, boolean]>([
  ['OTEL_SDK_DISABLED', 'true', false],
  ['OTEL_SDK_DISABLED', 'yes', true],
  ['OTEL_TRACES_EXPORTER', 'none', false],
  ['OTEL_TRACES_EXPORTER', 'otlp', true],
])('%s=%s: traces are on: %s', (name, value, areOn) => {
  const env = { ...LIVE, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', [name]: value };
  expect(parse(env).otlpEndpoint !== undefined).toBe(areOn);
});

test.each<[string, string]>([
  ['OTEL_TRACES_SAMPLER', 'the router decides, and OTEL_TRACES_SAMPLER_ARG is the share of all other traces'],
  ['SANDBOX_HOST', 'the sandbox listens at HOST'],
  ['MAX_ANSWER_BYTES', 'a response may have 8388608 bytes'],
])('%s, which the last releases had, is named with advice, and the start goes on', (name, advice) => {
  const env = { ...LIVE, [name]: 'anything' };
  expect(problemsOf(env)).toEqual([]);
  expect(unusedNames(env, VARIABLES)).toEqual([`${name} (${advice})`]);
});

test('the address of a region without an account has no effect', () => {
  const env = { ...LIVE, FINGERPRINT_URL_EU: 'https://fp-eu.test' };
  const unused = SLICES.flatMap((slice) => slice.unused(parse(env)));
  expect(unusedNames(env, VARIABLES, unused)).toEqual(['FINGERPRINT_URL_EU']);
});
