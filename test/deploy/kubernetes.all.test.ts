import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig } from '../../src/config/parser.ts';
import { problemsOf } from '../config/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT } from '../support/process.ts';
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

async function build(folder: string): Promise<readonly Manifest[]> {
  const kubectl = programOf('kubectl', 'install kubectl from version 1.21 on');
  const { stdout } = await run(kubectl, ['kustomize', join(ROOT, 'deploy', folder)]);
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

const everywhere = await build('kubernetes');
const overlays = await Promise.all(
  REGIONS.map(async (region) => [region, await build(`regions/${region.toLowerCase()}`)] as const),
);
const secret: Manifest = await read('kubernetes/example/secret.yaml');
const app = await startInSandboxMode();
afterAll(() => app.stop());

function find(kind: string, name = 'device-trust', objects = everywhere): Manifest {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (!found) throw new Error(`There is no ${kind} ${name}.`);
  return found;
}
const { spec: deployment } = find('Deployment');
const pod = deployment.template.spec;
const [container, ...sidecars] = pod.containers;
const { startupProbe, livenessProbe, readinessProbe } = container;
const { spec: autoscaler } = find('HorizontalPodAutoscaler');

/** The environment of the container, with the addresses of somebody who has filled them in. */
const environmentOf = (objects: readonly Manifest[]): Texts => ({
  ...find('ConfigMap', 'device-trust', objects)['data'],
  ...Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value])),
});
const filledIn = (env: Texts): Texts =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace(/\.example$/, '.test')]));
/** Reads the files that the Secret becomes. */
const readerOf = (files: Texts) => (path: string) => {
  const [, name = ''] = path.split(`${container.volumeMounts[0].mountPath}/`);
  return files[name] ?? expect.fail(`there is no file ${path}`);
};
const secretsOf = (regions: readonly string[]): Texts => ({
  'fingerprint-applications': JSON.stringify(
    regions.map((region) => ({ publicKey: `pk_${region}`, secret: 's', region })),
  ),
  'captcha-configurations': JSON.stringify(
    regions.map((region, index) => ({ captchaId: `${index}`.repeat(32), captchaKey: 'key', region })),
  ),
  'router-secrets': 'a-new-secret-of-the-router,the-one-that-it-had-before',
  'log-hash-key': 'a-key-for-hashes-of-tokens',
});

test('every object has the fields and values of its published type, and no others', async () => {
  // Below node_modules, where the compiler finds the types.
  const folder = await mkdtemp(join(ROOT, 'node_modules/.device-trust-manifests-'));
  const lines = [...everywhere, ...overlays.flatMap(([, objects]) => objects), secret].map(
    (object, index) =>
      `import type { I${object.kind} as Kind${index} } from 'kubernetes-models/${object.apiVersion}/${object.kind}';\n` +
      `export const object${index}: Kind${index} = ${JSON.stringify(object)};\n`,
  );
  await writeFile(join(folder, 'manifests.ts'), lines.join(''));
  const options =
    '--ignoreConfig --noEmit --strict --module nodenext --target es2024 --skipLibCheck manifests.ts'.split(' ');
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options];
  await run(process.execPath, tsc, { cwd: folder }).catch(({ stdout }) => expect.fail(stdout));
  await rm(folder, { recursive: true });
});

describe('the configuration', () => {
  test('reads a file of the Secret for each variable that is secret and needed', () => {
    const files = Object.entries(environmentOf(everywhere)).filter(([name]) => name.endsWith('_FILE'));
    expect(files.map(([, path]) => path.split('/').at(-1)).sort()).toEqual(Object.keys(secret['stringData']).sort());
    expect(pod.volumes[0].secret.secretName).toBe(secret.metadata.name);
  });

  test('is accepted with valid secrets, for all regions, and names no unknown variable', () => {
    const accepted = parseConfig(filledIn(environmentOf(everywhere)), readerOf(secretsOf(REGIONS)));
    const [port, adminPort] = container.ports.map((one: { containerPort: number }) => one.containerPort);
    expect(accepted).toMatchObject({ upstreamMode: 'live', host: '0.0.0.0', port, adminPort });
  });

  test('is refused as it stands, for each placeholder and for nothing else', () => {
    const problems = problemsOf(environmentOf(everywhere), readerOf(secret['stringData']));
    for (const problem of problems) expect(problem).toMatch(/, but got the placeholder of the documentation\.$/);
    // Six addresses, two credentials of each service, the secret of the router and the key of the hashes.
    expect(problems).toHaveLength(12);
  });

  test.each(overlays)('of the overlay %s accepts accounts of its own region alone', (region, objects) => {
    const env = filledIn(environmentOf(objects));
    const addresses = Object.keys(env).filter((name) => name.includes('_URL_'));
    expect(addresses.sort()).toEqual([`CAPTCHA_URL_${region}`, `FINGERPRINT_URL_${region}`]);
    for (const other of REGIONS) {
      const problems = problemsOf(env, readerOf(secretsOf([other]))).join();
      if (other === region) expect(problems).toBe('');
      else expect(problems).toContain(`FINGERPRINT_URL_${other}`);
    }
    const others = (list: readonly Manifest[]) => list.filter(({ kind }) => kind !== 'ConfigMap');
    expect(others(objects)).toEqual(others(everywhere));
  });
});

describe('the life of a pod', () => {
  test('the probes ask at the admin port what the server answers there', async () => {
    expect(container.ports[1]).toMatchObject({ name: 'metrics', containerPort: 9464 });
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(httpGet.port).toBe('metrics');
      expect((await fetch(new URL(httpGet.path, app.metricsUrl))).status).toBe(200);
    }
    // A pod that is not ready waits, and is not restarted for it.
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).not.toContain(readinessProbe.httpGet.path);
  });

  test('it ends after its last answer, and a rollout takes none away before the next one is ready', () => {
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
  test('it is the user of the image, gains no privilege, and writes nowhere', async () => {
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

  test('everything that selects pods selects these', () => {
    const { labels } = deployment.template.metadata;
    const services = [find('Service'), find('Service', 'device-trust-metrics')].map(({ spec }) => spec.selector);
    const others = [deployment, find('PodDisruptionBudget')['spec']].map(({ selector }) => selector.matchLabels);
    const allowed = find('NetworkPolicy')['spec'].podSelector.matchLabels;
    expect([...services, ...others, allowed]).toEqual(Array(5).fill(labels));
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
