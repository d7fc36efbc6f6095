import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { ROOT, startCommand, type TestProcess } from '../support/process.ts';
import { programOf } from '../support/programs.ts';

/** What a real API server says about the manifests with every component, in namespaces whose pods are `restricted`. */

const HOW = `apt-get install -y etcd-server, take a kubectl from version 1.31 on, and for kube-apiserver clone
github.com/kubernetes/kubernetes, tag v1.34.4, and make WHAT=cmd/kube-apiserver`;
const [API_SERVER = '', ETCD = '', KUBECTL = ''] = ['kube-apiserver', 'etcd', 'kubectl'].map((name) =>
  programOf(name, HOW),
);
const work = await mkdtemp(join(tmpdir(), 'device-trust-kubernetes-'));
const [clients, peers, port] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`, await freePort()];
const running: TestProcess[] = [];
afterAll(async () => {
  for (const { stop } of running) await stop();
  await rm(work, { recursive: true });
});

function start(program: string, options: string): TestProcess {
  const started = startCommand([program, ...options.trim().split(/\s+/)], { cwd: work });
  running.unshift(started);
  return started;
}

/** Runs kubectl to its end with an object on its standard input, and gives what it says. */
function kubectl(command: string, object: object = {}): string {
  const words = `--server=https://127.0.0.1:${port} --insecure-skip-tls-verify --token=a-token ${command}`.split(' ');
  // Nothing of the user's own clusters.
  const options = { cwd: work, env: { HOME: work }, input: JSON.stringify(object), encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync(KUBECTL, words, options);
  return stdout + stderr;
}
const APPLY = 'apply --server-side --validate=strict --warnings-as-errors';
const ACCEPTED = /^(\S+ serverside-applied\n)+$/;

const FOLDERS = ['kubernetes', 'regions/eu', 'regions/na', 'regions/glb'];
const namespaceOf = (folder: string) => folder.replace('/', '-');
const namespaces = FOLDERS.map((folder) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: namespaceOf(folder), labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
}));
/** Prometheus Operator has these two, with schemas of its own. */
const definitions = ['ServiceMonitor', 'PrometheusRule'].map((kind) => {
  const [plural, group] = [`${kind.toLowerCase()}s`, 'monitoring.coreos.com'];
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const spec = { group, scope: 'Namespaced', names: { kind, plural }, versions };
  const metadata = { name: `${plural}.${group}` };
  return { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec };
});

/** Switches on all components, and without a generator leaves the Secret to the region, as the first lines of its file say. */
async function complete(hasGenerator: boolean): Promise<void> {
  const text = await readFile(join(ROOT, 'deploy/kubernetes/kustomization.yaml'), 'utf8');
  const own = hasGenerator ? text : text.replace(/^secretGenerator:\n(?: .*\n)+/m, '');
  await writeFile(join(work, 'deploy/kubernetes/kustomization.yaml'), own.replaceAll(/^( +)#(- \S+)$/gm, '$1$2'));
}

beforeAll(async () => {
  await cp(join(ROOT, 'deploy'), join(work, 'deploy'), { recursive: true });
  const secret = await readFile(join(work, 'deploy/kubernetes/secret.example.env'), 'utf8');
  for (const folder of FOLDERS)
    await writeFile(join(work, 'deploy', folder, 'secret.env'), secret.replaceAll(/^#(?=\S)/gm, ''));
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  await writeFile(join(work, 'accounts.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(work, 'tokens.csv'), 'a-token,admin,admin,system:masters\n');
  start(
    ETCD,
    `--data-dir=etcd --listen-client-urls=http://${clients} --advertise-client-urls=http://${clients}
    --listen-peer-urls=http://${peers} --initial-advertise-peer-urls=http://${peers} --initial-cluster=default=http://${peers}`,
  );
  // The accounts of a namespace are made by a controller, which is not here.
  const server = start(
    API_SERVER,
    `--etcd-servers=http://${clients} --bind-address=127.0.0.1 --secure-port=${port} --cert-dir=certificates
    --service-cluster-ip-range=10.0.0.0/24 --service-account-issuer=https://kubernetes.default.svc --token-auth-file=tokens.csv
    --service-account-key-file=accounts.pem --service-account-signing-key-file=accounts.pem
    --disable-admission-plugins=ServiceAccount`,
  );
  while (kubectl('get --raw /readyz') !== 'ok')
    if ((await Promise.race([server.ended, sleep(200, 'running')])) !== 'running') expect.fail(server.stderr());
  const list = { apiVersion: 'v1', kind: 'List', items: [...namespaces, ...definitions] };
  expect(kubectl(`${APPLY} -f -`, list)).toMatch(ACCEPTED);
  kubectl('wait --for=condition=Established --timeout=60s crd --all');
});

test.each(FOLDERS)('Kubernetes accepts each object of %s and its pod, but none that may be root', async (folder) => {
  await complete(folder === 'kubernetes');
  const apply = `${APPLY} -n ${namespaceOf(folder)}`;
  expect(kubectl(`${apply} -k deploy/${folder}`)).toMatch(ACCEPTED);
  const deployment = kubectl(`get deployment device-trust -n ${namespaceOf(folder)} -o json`);
  const { metadata, spec } = JSON.parse(deployment).spec.template;
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'one' }, spec };
  expect(kubectl(`${apply} -f -`, pod)).toMatch(ACCEPTED);
  const root = { ...pod, metadata: { name: 'two' }, spec: { ...spec, securityContext: {} } };
  expect(kubectl(`${apply} -f -`, root)).toContain('violates PodSecurity "restricted:latest"');
});
