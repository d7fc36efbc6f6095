import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseConfig } from '../../src/config/parser.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { problemsOf } from '../config/support.ts';
import { ANDROID } from '../faults/documented.ts';
import { startInLiveMode } from '../support/app.ts';
import { ROOT } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { container, env, MANIFESTS, type Manifest, NAME, readYaml } from './manifests.ts';

/** One deployment for each region (deploy/README.md, Regions): its overlay, and what keeps a token in its region. */

const REGIONS = ['EU', 'NA', 'GLB'] as const;
const KUBECTL = process.env['KUBECTL'];

describe.each(REGIONS)('the overlay of %s', (region) => {
  const folder = `regions/${region.toLowerCase()}`;
  const patch: Manifest = readYaml(`${folder}/config.yaml`);
  /** The patch is merged by its keys, and null removes one. */
  const merged: Readonly<Record<string, string | null>> = { ...env, ...patch['data'] };
  const own = Object.fromEntries(
    Object.entries(merged).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  );

  test('is the deployment for all regions with another ConfigMap', () => {
    expect(readYaml(`${folder}/kustomization.yaml`)).toMatchObject({
      resources: ['../../kubernetes'],
      patches: [{ path: 'config.yaml' }],
    });
    expect([patch.kind, patch.metadata.name]).toEqual(['ConfigMap', NAME]);
  });

  test('has the addresses of its region and of no other', () => {
    const addresses = Object.keys(own).filter((name) => name.includes('_URL_'));
    expect(addresses.sort()).toEqual([`CAPTCHA_URL_${region}`, `FINGERPRINT_URL_${region}`]);
  });

  test.each(REGIONS)('with the accounts of %s the process starts only in that region', (other) => {
    const secret: Readonly<Record<string, string>> = {
      'fingerprint-applications': JSON.stringify([{ publicKey: 'pk', secret: 'sk', region: other }]),
      'captcha-configurations': JSON.stringify([{ captchaId: 'a'.repeat(32), captchaKey: 'key', region: other }]),
      'router-secrets': 'a-secret-of-the-router-of-this-region',
      'log-hash-key': 'a-key-for-hashes-of-tokens',
    };
    const read = (path: string) => secret[path.slice(container.volumeMounts[0].mountPath.length + 1)] ?? '';
    const live = Object.fromEntries(
      Object.entries(own).map(([name, value]) => [name, value.replace(/\.example$/, '.test')]),
    );
    if (other === region) {
      expect(parseConfig(live, read).fingerprintApplications).toMatchObject([{ region }]);
    } else {
      expect(problemsOf(live, read).join('\n')).toMatch(new RegExp(`FINGERPRINT_URL_${other}`));
    }
  });

  test.runIf(KUBECTL)('kubectl builds it: all objects, and that ConfigMap', () => {
    const built = execFileSync(KUBECTL ?? '', ['kustomize', join(ROOT, 'deploy', folder)], { encoding: 'utf8' });
    const objects: Manifest[] = parseAllDocuments(built).map((document) => document.toJS());
    const config = objects.find(({ kind }) => kind === 'ConfigMap');
    expect(own).toMatchObject(config?.['data']);
    expect(Object.keys(config?.['data']).filter((name) => name.includes('_URL_'))).toHaveLength(2);
    const applied = MANIFESTS.filter(({ kind }) => kind !== 'Secret').map(({ kind, metadata }) => [
      kind,
      metadata.name,
    ]);
    expect(objects.map(({ kind, metadata }) => [kind, metadata.name]).sort()).toEqual(applied.sort());
  });
});

describe('a reference in a graph with a deployment in NA', async () => {
  const upstream = await startUpstream((_request, response) => sendJson(response, 200, ANDROID));
  const nobody = 'http://127.0.0.1:9';
  const app = await startInLiveMode(
    { GLB: nobody, NA: upstream.url, EU: nobody },
    {
      fingerprintApplications: SANDBOX_APPLICATIONS.filter(({ region }) => region === 'NA'),
      captchaConfigurations: SANDBOX_CAPTCHAS.filter(({ region }) => region === 'NA'),
    },
  );
  afterAll(() => Promise.all([app.stop(), upstream.stop()]));
  beforeEach(() => {
    upstream.received.length = 0;
  });
  const referTo = (reference: Readonly<Record<string, string>>) =>
    ask(
      app.graphqlUrl,
      'query ($of: [_Any!]!) { _entities(representations: $of) { ... on DeviceFingerprint { publicKey clientType } } }',
      { of: [{ __typename: 'DeviceFingerprint', ...reference }] },
    );

  test('by token and public key of NA is judged', async () => {
    const { data } = await referTo({ token: 'of-na', publicKey: 'pk_sandbox_na' });
    expect(data._entities).toEqual([{ publicKey: 'pk_sandbox_na', clientType: 'ANDROID' }]);
  });

  test('by token and public key of the EU is refused, and the token stays here', async () => {
    const { data, errors } = await referTo({ token: 'of-eu', publicKey: 'pk_sandbox_eu' });
    expect(data._entities).toEqual([null]);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
    expect(upstream.received).toEqual([]);
  });

  test('by the token alone goes to the first application, whatever region the token is of', async () => {
    await referTo({ token: 'of-eu' });
    expect(upstream.received.map(({ url, body }) => [url, JSON.parse(body).device_token])).toEqual([
      ['/api/v2/fp_query/pk_sandbox_na', 'of-eu'],
    ]);
  });
});
