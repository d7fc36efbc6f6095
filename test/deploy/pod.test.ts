import { afterAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/parser.ts';
import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { problemsOf } from '../config/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { instructionsOfImage } from './dockerfile.ts';
import { container, deployment, env, type Manifest, manifestOf, NAME, pod } from './manifests.ts';

/** The configuration of a pod, its life cycle, and what it may do. */

/** How long requests under way may take once a stopping process accepts no connection, in ms. */
const DRAIN_MS = 7_000;

const app = await startInSandboxMode();
afterAll(() => app.stop());

const { mountPath } = container.volumeMounts[0];
/** Reads the files that a secret becomes. */
const readFrom = (secret: Readonly<Record<string, string>>) => (path: string) => {
  const text = path.startsWith(`${mountPath}/`) ? secret[path.slice(mountPath.length + 1)] : undefined;
  if (text === undefined) throw new Error(`There is no file ${path}.`);
  return text;
};

describe('configuration', () => {
  const secretNames = Object.values<Variable>(VARIABLES).filter(({ secret }) => secret);

  test('every variable is one of ours, and no secret is in plain text', () => {
    const known = Object.values<Variable>(VARIABLES).flatMap(({ name, secret }) => (secret ? `${name}_FILE` : name));
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
    expect(container.envFrom).toEqual([{ configMapRef: { name: NAME } }]);
  });

  test('every secret is a file that the Secret has', () => {
    // A store, services, attestations and sealed judgements are optional, and a file that is not there stops the start.
    const optional = ['QUOTA_STORE_URL', 'SERVICES', 'ATTESTATION_KEYS', 'SEALING_KEYS'];
    const needed = secretNames.filter(({ name }) => !optional.includes(name));
    const files = needed.map(({ name }) => env[`${name}_FILE`]);
    const keys = Object.keys(manifestOf('Secret')['stringData']);
    expect(files.sort()).toEqual(keys.map((key) => `${mountPath}/${key}`).sort());
    expect(pod.spec.volumes).toEqual([
      { name: container.volumeMounts[0].name, secret: { secretName: NAME, defaultMode: 0o440 } },
    ]);
  });

  test('the subgraph accepts it with valid secrets, for each region', () => {
    const good = {
      'fingerprint-applications': JSON.stringify(
        ['GLB', 'NA', 'EU'].map((region) => ({ publicKey: `pk_${region}`, secret: 'sk', region })),
      ),
      'captcha-configurations': JSON.stringify(
        ['GLB', 'NA', 'EU'].map((region, index) => ({ captchaId: `${index}`.repeat(32), captchaKey: 'key', region })),
      ),
      'router-secrets': 'a-new-secret-of-the-router,the-one-that-it-had-before',
      'log-hash-key': 'a-key-for-hashes-of-tokens',
    };
    const ownAddresses = Object.entries(env).map(([name, value]) => [name, value.replace(/\.example$/, '.test')]);
    expect(parseConfig(Object.fromEntries(ownAddresses), readFrom(good))).toMatchObject({
      upstreamMode: 'live',
      host: '0.0.0.0',
      port: 4001,
      routerSecrets: ['a-new-secret-of-the-router', 'the-one-that-it-had-before'],
      fingerprintApplications: [{ region: 'GLB' }, { region: 'NA' }, { region: 'EU' }],
    });
  });

  test('with what the manifests show it refuses to start, for each placeholder and for nothing else', () => {
    const problems = problemsOf(env, readFrom(manifestOf('Secret')['stringData']));
    const refusal = (name: string, own: string) =>
      `${name}: expected ${own}, but got the placeholder of the documentation.`;
    const addresses = Object.keys(env).filter((name) => name.includes('_URL_'));
    expect([...problems].sort()).toEqual(
      [
        refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.publicKey'),
        refusal('FINGERPRINT_APPLICATIONS', 'a value of your own at 0.secret'),
        refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaId'),
        refusal('CAPTCHA_CONFIGURATIONS', 'a value of your own at 0.captchaKey'),
        refusal('ROUTER_SECRETS', 'a secret of your own'),
        refusal('LOG_HASH_KEY', 'a secret of your own'),
        ...addresses.map((name) => refusal(name, 'an address of your own')),
      ].sort(),
    );
  });
});

describe('life of a pod', () => {
  test('it is killed only after every request has had its time', () => {
    const shutdownMs = Number(env['SHUTDOWN_GRACE_MS']) + DRAIN_MS;
    // It leaves time to close sockets, and for clocks that differ.
    expect(pod.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(shutdownMs + 3_000);
  });

  test('the router stops sending requests to it before it refuses connections', () => {
    const { periodSeconds, failureThreshold, timeoutSeconds } = container.readinessProbe;
    expect(periodSeconds).toBeLessThanOrEqual(2);
    expect(Number(env['SHUTDOWN_GRACE_MS'])).toBeGreaterThanOrEqual(periodSeconds * failureThreshold * 1_000);
    expect(timeoutSeconds).toBeLessThanOrEqual(periodSeconds);
  });

  test('a start may take half a minute, and a process that hangs is replaced within another', () => {
    const { startupProbe, livenessProbe } = container;
    expect(startupProbe.periodSeconds * startupProbe.failureThreshold).toBe(30);
    expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBe(30);
  });

  test('the probes ask what the server answers, at the admin port', async () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      // The name of the admin port.
      expect(httpGet.port).toBe('metrics');
      for (const base of [app.metricsUrl, app.url]) {
        expect((await fetch(new URL(httpGet.path, base))).status).toBe(200);
      }
    }
    expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      '/healthz',
      '/healthz',
      '/readyz',
    ]);
  });

  test('a rollout takes no pod away before its successor is ready', () => {
    expect(deployment['spec'].strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
  });

  test('a rollout whose pod never becomes ready is reported, but not before each pod had its time', () => {
    const { startupProbe, readinessProbe } = container;
    const startMs = startupProbe.periodSeconds * startupProbe.failureThreshold * 1_000;
    const checkMs = Number(env['UPSTREAM_CHECK_GRACE_MS'] ?? VARIABLES.upstreamCheckGraceMs.default);
    const deadlineMs = deployment['spec'].progressDeadlineSeconds * 1_000;
    // It leaves time to pull the image.
    expect(deadlineMs).toBeGreaterThanOrEqual(startMs + checkMs + readinessProbe.periodSeconds * 1_000 + 60_000);
    expect(deadlineMs).toBeLessThanOrEqual(5 * 60_000);
    // A pod that is not ready waits, and is not restarted for it.
    expect([startupProbe, container.livenessProbe].map(({ httpGet }) => httpGet.path)).not.toContain('/readyz');
  });

  test('there are at least three pods, the autoscaler alone sets their number, and one at a time is disrupted', () => {
    const { minReplicas, maxReplicas, scaleTargetRef } = manifestOf('HorizontalPodAutoscaler')['spec'];
    expect(minReplicas).toBe(3);
    expect(maxReplicas).toBeGreaterThan(minReplicas);
    expect(scaleTargetRef).toEqual({ apiVersion: deployment.apiVersion, kind: deployment.kind, name: NAME });
    expect(deployment['spec']).not.toHaveProperty('replicas');
    expect(manifestOf('PodDisruptionBudget')['spec'].maxUnavailable).toBe(1);
  });
});

describe('what a pod may do', () => {
  test('it runs as the user of the image, which is not root, and reads its secrets by its group', () => {
    const { runAsNonRoot, runAsUser, runAsGroup, fsGroup, seccompProfile } = pod.spec.securityContext;
    expect(instructionsOfImage('USER')).toEqual([`${runAsUser}:${runAsGroup}`]);
    expect([runAsNonRoot, fsGroup, seccompProfile.type]).toEqual([true, runAsGroup, 'RuntimeDefault']);
  });

  test('it gains no privilege, writes nowhere, and cannot talk to the API of Kubernetes', () => {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts).toEqual([{ name: 'secrets', mountPath, readOnly: true }]);
    expect(pod.spec.automountServiceAccountToken).toBe(false);
    expect(pod.spec.containers).toEqual([container]);
  });

  test('its memory is its own, and its limit of CPU is above the one core that JavaScript uses', () => {
    const { requests, limits } = container.resources;
    expect(limits.memory).toBe(requests.memory);
    expect(limits.cpu).toBe('2');
  });

  test('it is reached by the router and Prometheus alone, each at its own port', () => {
    const { ingress, policyTypes } = manifestOf('NetworkPolicy')['spec'];
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    const rules = ingress.map(({ from, ports }: { from: object[]; ports: { port: number }[] }) => [
      from.length,
      ports.map(({ port }) => port),
    ]);
    expect(rules).toEqual([
      [1, [4001]],
      [1, [9464]],
    ]);
    // An empty selector would allow every pod.
    const names = ingress.map(({ from: [{ podSelector }] }: { from: [Manifest] }) => podSelector.matchLabels);
    expect(names).toEqual([{ 'app.kubernetes.io/name': 'router' }, { 'app.kubernetes.io/name': 'prometheus' }]);
  });

  test('it reaches DNS and, outside the private networks, HTTPS', () => {
    const [dns, https, ...others] = manifestOf('NetworkPolicy')['spec'].egress;
    expect(dns.ports.map(({ port }: { port: number }) => port)).toEqual([53, 53]);
    expect(https.ports).toEqual([{ protocol: 'TCP', port: 443 }]);
    for (const { ipBlock } of https.to) expect(ipBlock.except.length).toBeGreaterThan(0);
    expect(others).toEqual([]);
    const addresses = Object.entries(env).filter(([name]) => name.includes('_URL_'));
    expect(addresses).toHaveLength(6);
    for (const [, address] of addresses) expect(new URL(address)).toMatchObject({ protocol: 'https:', port: '' });
  });
});
