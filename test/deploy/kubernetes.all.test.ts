import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { generateKey } from '../../src/captcha/attestation.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { problemsOf, SERVICE } from '../config/support.ts';
import { MAIN, ROOT, startProcess } from '../support/process.ts';
import { programOf } from '../support/programs.ts';

/** What `kubectl apply -k` gives to a cluster, as kubectl builds it, and what the subgraph makes of its configuration. */

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has fields of its own, which the compiler compares below.
  readonly [field: string]: any;
}
type Texts = Readonly<Record<string, string>>;

const REGIONS = ['EU', 'NA', 'GLB'] as const;
/** How long requests under way may take once a stopping process accepts no connection, in ms. */
const DRAIN_MS = 7_000;

const run = promisify(execFile);
const read = async (path: string) => parse(await readFile(join(ROOT, 'deploy', path), 'utf8'));
/** What an operator can switch on has a `#` and no space before it. */
const EVERYTHING = /^( +)#(\S.*)$/gm;

// Where the compiler finds the types.
const work = await mkdtemp(join(ROOT, 'test/on-demand/node_modules/.device-trust-manifests-'));
const sandbox = await startSandbox({ port: 0 });
afterAll(() => Promise.all([sandbox.stop(), rm(work, { recursive: true })]));

/** What kubectl makes of a folder in a copy of deploy/, once `pattern` has switched components on, and `changes` are made in files. */
async function build(
  folder: string,
  edited = folder,
  pattern = /^$/g,
  changes: readonly (readonly [file: string, from: string | RegExp, to: string])[] = [],
): Promise<readonly Manifest[]> {
  const copy = await mkdtemp(join(work, 'deploy-'));
  await cp(join(ROOT, 'deploy'), copy, { recursive: true });
  const change = async (file: string, from: string | RegExp, to: string) => {
    const text = await readFile(join(copy, file), 'utf8');
    await writeFile(join(copy, file), text.replace(from, to));
  };
  await change(`${edited}/kustomization.yaml`, pattern, '$1$2');
  // As the first lines of each region's file say.
  if (folder !== 'kubernetes') await change('kubernetes/kustomization.yaml', /^secretGenerator:\n(?: .*\n)+/m, '');
  await cp(join(copy, 'kubernetes/secret.example.env'), join(copy, folder, 'secret.env'));
  if (pattern === EVERYTHING) await change(`${folder}/secret.env`, /^#(?=\S)/gm, '');
  for (const one of changes) await change(...one);
  const kubectl = programOf('kubectl', 'install kubectl from version 1.31 on');
  const { stdout } = await run(kubectl, ['kustomize', join(copy, folder)]);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

const everywhere = await build('kubernetes');
const complete = await build('regions/eu', 'kubernetes', EVERYTHING);
const overlays = await Promise.all(
  REGIONS.map(async (region) => [region, await build(`regions/${region.toLowerCase()}`)] as const),
);
const switchedOn = await Promise.all(
  (await readdir(join(ROOT, 'deploy/kubernetes/components'))).map(async (name) => {
    const line = new RegExp(`^( +)#(- components/${name})$`, 'gm');
    return [`with ${name}`, await build('kubernetes', 'kubernetes', line)] as const;
  }),
);
const builds = [
  ['everywhere', everywhere] as const,
  ...overlays,
  ...switchedOn,
  ['EU with all', complete] as const,
  ['NA with its own', await build('regions/na', 'regions/na', EVERYTHING)] as const,
];

const find = (kind: string, name = 'device-trust', objects = everywhere): Manifest =>
  objects.find((object) => object.kind === kind && object.metadata.name === name) ?? expect.fail(`no ${kind} ${name}`);
const { spec: deployment } = find('Deployment');
const pod = deployment.template.spec;
const [container, ...sidecars] = pod.containers;
const { startupProbe, livenessProbe, readinessProbe } = container;
const { spec: autoscaler } = find('HorizontalPodAutoscaler');
const [{ mountPath }] = container.volumeMounts;

const podOf = (objects: readonly Manifest[]) => find('Deployment', 'device-trust', objects)['spec'].template.spec;
/** The environment of the container. */
function environmentOf(objects: readonly Manifest[]): Texts {
  const [{ env, envFrom }] = podOf(objects).containers;
  const named = env.map(({ name, value }: { name: string; value: string }) => [name, value]);
  return { ...find('ConfigMap', envFrom[0].configMapRef.name, objects)['data'], ...Object.fromEntries(named) };
}
/** The files that the Secret becomes. */
function mountedIn(objects: readonly Manifest[]): Texts {
  const { secret } = podOf(objects).volumes.find(({ name }: { name: string }) => name === 'secrets');
  const { data } = find('Secret', secret.secretName, objects);
  return Object.fromEntries(Object.entries<string>(data).map(([file, text]) => [file, atob(text)]));
}
/** Where the policy is mounted, and where it is in the repository. */
const POLICY = ['/etc/risk-policy', join(ROOT, 'deploy/kubernetes/components/risk-policy')] as const;
/** Reads the policy, and the files of a Secret. */
const readerOf = (files: Texts) => (path: string) =>
  path.startsWith(POLICY[0])
    ? readFileSync(path.replace(...POLICY), 'utf8')
    : (files[path.slice(mountPath.length + 1)] ?? expect.fail(`there is no file ${path}`));
/** The secrets of somebody who has filled them in, with the accounts of the sandbox, of which the first three work. */
function secretsOf(regions: readonly string[]): Texts {
  const listOf = (accounts: readonly { readonly region: string }[]) =>
    JSON.stringify(accounts.slice(0, 3).filter(({ region }) => regions.includes(region)));
  return {
    'fingerprint-applications': listOf(SANDBOX_APPLICATIONS),
    'captcha-configurations': listOf(SANDBOX_CAPTCHAS),
    'router-secrets': 'a-new-secret-of-the-router,the-one-that-it-had-before',
    'log-hash-key': 'a-key-for-hashes-of-tokens',
    services: JSON.stringify([SERVICE]),
    'attestation-keys': JSON.stringify([generateKey('active'), generateKey('next')]),
    'sealing-keys': JSON.stringify([newSealingKey()]),
    // Nobody is there, which keeps no process from starting.
    'quota-store-url': 'redis://127.0.0.1:1/0',
  };
}

test('every object has the fields and values of its published type, and no others', async () => {
  // Kubernetes publishes no types of what Prometheus Operator adds.
  const all = builds.flatMap(([, list]) => list);
  const objects = all.filter(({ apiVersion }) => apiVersion !== 'monitoring.coreos.com/v1');
  const lines = [...new Set(objects.map((object) => JSON.stringify(object)))].map((text, index) => {
    const { apiVersion, kind }: Manifest = JSON.parse(text);
    return (
      `import type { I${kind} as Kind${index} } from 'kubernetes-models/${apiVersion}/${kind}';\n` +
      `export const object${index}: Kind${index} = ${text};\n`
    );
  });
  await writeFile(join(work, 'manifests.ts'), lines.join(''));
  const options =
    '--ignoreConfig --noEmit --strict --module nodenext --target es2024 --skipLibCheck manifests.ts'.split(' ');
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options];
  await run(process.execPath, tsc, { cwd: work }).catch(({ stdout }) => expect.fail(stdout));
});

describe('the configuration', () => {
  test.each([
    ['everywhere', everywhere],
    ['EU with all', complete],
  ])('the configuration %s is refused as it stands, for each placeholder and for nothing else', (_name, objects) => {
    const env = environmentOf(objects);
    const own = Object.keys(env).filter(
      (name) => name !== 'RISK_POLICY_FILE' && /_FILE$|_URL_(EU|NA|GLB)$|^ATTESTATION$/.test(name),
    );
    const named = problemsOf(env, readerOf(mountedIn(objects))).map((problem) => problem.split(':', 1).join());
    expect([...new Set(named)].sort()).toEqual(own.map((name) => name.replace('_FILE', '')).sort());
  });

  test.each(builds)(
    'the configuration %s starts a process that becomes ready, once it is filled in',
    async (_name, objects) => {
      const regions = REGIONS.filter((region) => environmentOf(objects)[`FINGERPRINT_URL_${region}`]);
      const files = await mkdtemp(join(work, 'secret-'));
      for (const [file, text] of Object.entries(secretsOf(regions))) await writeFile(join(files, file), text);
      const filledIn = Object.entries(environmentOf(objects)).map(([variable, value]) => {
        const region = REGIONS.find((one) => variable.endsWith(`_URL_${one}`));
        return [
          variable,
          region
            ? sandbox.urls[region]
            : value
                .replace(mountPath, files)
                .replace(...POLICY)
                .replace('.example', '.test'),
        ];
      });
      const here = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '0' };
      const child = startProcess(MAIN, { ...Object.fromEntries(filledIn), ...here });
      onTestFinished(() => child.stop());
      const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/);
      for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
        expect((await fetch(new URL(httpGet.path, url))).status).toBe(200);
    },
  );

  test.each(overlays)('the overlay of the region %s accepts accounts of its own region alone', (region, objects) => {
    const env = environmentOf(objects);
    const addresses = Object.keys(env).filter((name) => name.includes('_URL_'));
    expect(addresses.sort()).toEqual([`CAPTCHA_URL_${region}`, `FINGERPRINT_URL_${region}`]);
    for (const other of REGIONS.filter((one) => one !== region))
      expect(problemsOf(env, readerOf(secretsOf([other]))).join()).toContain(`FINGERPRINT_URL_${other}`);
  });
});

describe('a rollout', () => {
  test.each<[string, string, string | RegExp, string]>([
    ['the configuration', 'kubernetes/config.env', 'CAPTCHA_FAIL_OPEN=faults', 'CAPTCHA_FAIL_OPEN=never'],
    ['a secret', 'regions/eu/secret.env', 'router-secrets=', 'router-secrets=a-new-one,'],
    ['the policy', 'kubernetes/components/risk-policy/policy.json', '"CHALLENGE"', '"DENY"'],
    ['the configuration of a component', 'kubernetes/components/attestation/config.yaml', 'placeOrder', 'payOrder'],
    ['the configuration of a region', 'regions/eu/config.yaml', 'captcha.eu', 'captcha-2.eu'],
  ])('a change of %s becomes a rollout, and the old pods keep what they have', async (_what, ...change) => {
    const changed = await build('regions/eu', 'kubernetes', EVERYTHING, [change]);
    expect(podOf(changed)).not.toEqual(podOf(complete));
    const contents = [...complete, ...changed].filter(({ kind }) => /^(ConfigMap|Secret)$/.test(kind));
    expect(contents.map(({ immutable }) => immutable)).toEqual(Array(6).fill(true));
    // Two of the three objects have not changed.
    expect(new Set(contents.map(({ metadata }) => metadata.name)).size).toBe(4);
  });
});

describe('the life of a pod', () => {
  test('the probes ask at the admin port, and a pod that is not ready waits without a restart', () => {
    const ports = container.ports.map(({ containerPort }: { containerPort: number }) => containerPort);
    expect([environmentOf(everywhere)['HOST'], ...ports]).toEqual(['::', 4001, 9464]);
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) expect(httpGet.port).toBe('metrics');
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).not.toContain(readinessProbe.httpGet.path);
  });

  test('a rollout removes no old pod before a new one is ready, and a pod ends only after its last answer', () => {
    const graceMs = Number(environmentOf(everywhere)['SHUTDOWN_GRACE_MS']);
    expect(graceMs).toBeGreaterThanOrEqual(readinessProbe.periodSeconds * readinessProbe.failureThreshold * 1_000);
    // It leaves time to close sockets, and for clocks that differ.
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(graceMs + DRAIN_MS + 3_000);
    expect(deployment.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  });

  test('the autoscaler alone sets the number of pods, by a metric that the adapter gives', async () => {
    expect(deployment).not.toHaveProperty('replicas');
    expect(autoscaler.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'device-trust' });
    const { rules } = await read('prometheus-adapter.yaml');
    expect(rules.custom[0].name.as).toBe(autoscaler.metrics[0].pods.metric.name);
    expect(find('PodDisruptionBudget')['spec'].maxUnavailable).toBeLessThan(autoscaler.minReplicas);
  });
});

describe('what a pod may do', () => {
  test('a pod is the user of the image, gains no privilege, and writes nowhere', async () => {
    const dockerfile = await readFile(join(ROOT, 'deploy/Dockerfile'), 'utf8');
    const user = dockerfile.split('\nUSER ').at(-1)?.split('\n')[0];
    const { runAsNonRoot, runAsUser, runAsGroup, fsGroup } = pod.securityContext;
    expect([runAsNonRoot, `${runAsUser}:${runAsGroup}`, fsGroup]).toEqual([true, user, runAsGroup]);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect([pod.automountServiceAccountToken, sidecars]).toEqual([false, []]);
  });

  test('each selector of pods selects these', () => {
    const { labels } = deployment.template.metadata;
    const services = [find('Service'), find('Service', 'device-trust-metrics')].map(({ spec }) => spec.selector);
    const others = [deployment, find('PodDisruptionBudget')['spec']].map(({ selector }) => selector.matchLabels);
    const policies = complete.filter(({ kind }) => kind === 'NetworkPolicy');
    const allowed = policies.map(({ spec }) => spec.podSelector.matchLabels);
    expect([...services, ...others, ...allowed]).toEqual(Array(8).fill(labels));
  });

  test('the router reaches GraphQL where its configuration looks, Prometheus the metrics, and nobody anything else', async () => {
    const { ports } = find('Service')['spec'];
    expect(ports).toMatchObject([{ targetPort: 'http' }]);
    const { subgraphs } = await read('supergraph.yaml');
    expect(subgraphs['device-trust'].routing_url).toBe(`http://device-trust:${ports[0].port}/graphql`);
    const { ingress, egress } = find('NetworkPolicy')['spec'];
    expect(ingress).toMatchObject([
      { from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'router' } } }], ports: [{ port: 4001 }] },
      { from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } } }], ports: [{ port: 9464 }] },
    ]);
    expect(egress).toMatchObject([{ ports: [{ port: 53 }, { port: 53 }] }, { ports: [{ port: 443 }] }]);
  });
});
