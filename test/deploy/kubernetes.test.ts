import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { VARIABLES } from '../../src/config/variables.ts';
import { ROOT } from '../support/process.ts';
import { DOCKERFILE, instructionsOfImage } from './dockerfile.ts';
import {
  container,
  deployment,
  env,
  FILES,
  kustomization,
  MANIFESTS,
  manifestOf,
  NAME,
  pod,
  readYaml,
} from './manifests.ts';
import { typeErrorsOf, validate } from './schemas.ts';

/** What the platform team applies to a cluster, as a whole; `pod.test.ts` looks at a pod. */

const EXAMPLE = 'example/secret.yaml';

describe('every manifest', () => {
  test.each(MANIFESTS.map((manifest) => [manifest.kind, manifest.metadata.name, manifest] as const))(
    '%s %s fits the schema of its kind',
    async (_kind, _name, manifest) => {
      await expect(validate(manifest)).resolves.toBeUndefined();
    },
  );

  test('has no unknown field', async () => {
    expect(await typeErrorsOf(MANIFESTS)).toBe('');
  }, 60_000);

  test('would not pass with a wrong value, or with a mistyped field', async () => {
    const wrong = { ...deployment, spec: { ...deployment['spec'], replicas: 'three' } };
    await expect(validate(wrong)).rejects.toThrow('replicas');
    const mistyped = { ...deployment, spec: { ...deployment['spec'], replica: 3 } };
    expect(await typeErrorsOf([mistyped])).toMatch(/replica.* does not exist/);
  }, 60_000);

  test('is applied by the kustomization, except the Secret with placeholders', () => {
    expect([...kustomization.resources, EXAMPLE].sort()).toEqual(FILES);
  });

  test('belongs to no namespace, so that it can be applied to any', () => {
    for (const { metadata } of MANIFESTS) expect(metadata).not.toHaveProperty('namespace');
  });
});

describe('what belongs together', () => {
  const labels = pod.metadata.labels;

  test('everything that selects pods selects these', () => {
    const spread = pod.spec.topologySpreadConstraints.map(
      ({ labelSelector }: { labelSelector: { matchLabels: object } }) => labelSelector.matchLabels,
    );
    expect([
      deployment['spec'].selector.matchLabels,
      manifestOf('Service')['spec'].selector,
      manifestOf('Service', `${NAME}-metrics`)['spec'].selector,
      manifestOf('PodDisruptionBudget')['spec'].selector.matchLabels,
      manifestOf('NetworkPolicy')['spec'].podSelector.matchLabels,
      ...spread,
    ]).toEqual(Array(7).fill(labels));
  });

  test('the ports are those of the image, each by its name', () => {
    const ports = container.ports.map(({ containerPort }: { containerPort: number }) => containerPort);
    expect(instructionsOfImage('EXPOSE')).toEqual([ports.join(' ')]);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: Number(VARIABLES.port.default) },
      { name: 'metrics', containerPort: 9464 },
    ]);
    expect(env).not.toHaveProperty('PORT');
    expect(env).not.toHaveProperty('ADMIN_PORT');
  });

  test('the router finds GraphQL where its configuration looks, and nobody finds metrics there', () => {
    const [{ port, targetPort }, ...others] = manifestOf('Service')['spec'].ports;
    expect([targetPort, others]).toEqual(['http', []]);
    const url = `http://${manifestOf('Service').metadata.name}:${port}/graphql`;
    expect(readYaml('supergraph.yaml').subgraphs[NAME].routing_url).toBe(url);
  });

  test('Prometheus finds each pod by itself, ready or not', () => {
    const { metadata, spec } = manifestOf('Service', `${NAME}-metrics`);
    expect(spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    expect(spec.ports).toEqual([{ name: 'metrics', port: 9464, targetPort: 'metrics' }]);
    expect(metadata).toMatchObject({ annotations: { 'prometheus.io/port': '9464' } });
  });

  test('the image is named by the kustomization, with the version of the package', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(kustomization.images).toEqual([{ name: container.image, newName: container.image, newTag: version }]);
    expect(DOCKERFILE).toContain(`-t ${container.image} .`);
  });
});
