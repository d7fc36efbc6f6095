import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../support/process.ts';

/** An object for Kubernetes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has fields of its own, and the tests hold them against its schema.
  readonly [field: string]: any;
}

export const NAME = 'device-trust';

const DEPLOY = join(ROOT, 'deploy');
const KUBERNETES = join(DEPLOY, 'kubernetes');
/** Says what is applied; no object itself. */
const KUSTOMIZATION = 'kustomization.yaml';

/** A file of `deploy/` with one document. */
export const readYaml = (path: string) => parse(readFileSync(join(DEPLOY, path), 'utf8'));

export const kustomization = readYaml(`kubernetes/${KUSTOMIZATION}`);

/** The files with objects, by their paths from `deploy/kubernetes/`. */
export const FILES: readonly string[] = globSync('**/*.yaml', { cwd: KUBERNETES })
  .filter((file) => file !== KUSTOMIZATION)
  .sort();

export const MANIFESTS: readonly Manifest[] = FILES.flatMap((file) =>
  parseAllDocuments(readFileSync(join(KUBERNETES, file), 'utf8')).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS();
  }),
);

/** The only object of its kind, or the one with this name. */
export function manifestOf(kind: string, name = NAME): Manifest {
  const found = MANIFESTS.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (!found) throw new Error(`There is no ${kind} ${name}.`);
  return found;
}

export const deployment = manifestOf('Deployment');
export const pod = deployment['spec'].template;
export const container = pod.spec.containers[0];

/** Environment of the container. */
export const env: Readonly<Record<string, string>> = {
  ...manifestOf('ConfigMap')['data'],
  ...Object.fromEntries(container.env.map(({ name, value }: { name: string; value: string }) => [name, value])),
};
