import { readdirSync, readFileSync } from 'node:fs';
import { type DefinitionNode, Kind, parse, print } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import { ask } from '../support/requests.ts';
import { startRecorded } from './support.ts';

/** The contract as people read it, and as a router does. */

const { app, stop } = await startRecorded();
afterAll(stop);

const FOLDER = new URL('../../schema/', import.meta.url);
const definitions = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.graphql'))
  .flatMap((file) => parse(readFileSync(new URL(file, FOLDER), 'utf8')).definitions);

interface Described {
  readonly name: { readonly value: string };
  readonly description?: { readonly value: string } | undefined;
}

/** A definition and everything in it that has a name, each with its path. */
function namedIn(definition: DefinitionNode): [path: string, node: Described][] {
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION: {
      const { name, fields = [] } = definition;
      const inside = fields.flatMap((field): [string, Described][] => [
        [`${name.value}.${field.name.value}`, field],
        ...(field.arguments ?? []).map((argument): [string, Described] => [
          `${name.value}.${field.name.value}(${argument.name.value})`,
          argument,
        ]),
      ]);
      // The two roots are the graph itself.
      return ['Query', 'Mutation'].includes(name.value) ? inside : [[name.value, definition], ...inside];
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_DEFINITION: {
      const inside = definition.kind === Kind.ENUM_TYPE_DEFINITION ? definition.values : definition.fields;
      return [
        [definition.name.value, definition],
        ...(inside ?? []).map((node): [string, Described] => [`${definition.name.value}.${node.name.value}`, node]),
      ];
    }
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.UNION_TYPE_DEFINITION:
      return [[definition.name.value, definition]];
    default:
      return [];
  }
}

describe('descriptions', () => {
  const named = definitions.flatMap(namedIn);

  test('a signal means in an answer what it means in the schema', () => {
    const described = named.flatMap(([path, node]) =>
      path.startsWith('SignalCode.') ? [[path.slice('SignalCode.'.length), node.description?.value]] : [],
    );
    const meanings = SIGNAL_CATALOGUE.map(({ code, meaning }) => [code, meaning]);
    expect(Object.fromEntries(described)).toEqual(Object.fromEntries(meanings));
  });

  test('the walk sees the graph', () => {
    const paths = named.map(([path]) => path);
    // Fingerprint document, 2.2 and 2.9: 51 signals, 16 documented metadata keys and `additional`.
    expect(paths.filter((path) => path.startsWith('SignalCode.'))).toHaveLength(51);
    expect(paths.filter((path) => path.startsWith('DeviceMetadataInput.'))).toHaveLength(17);
    expect(paths).toContain('Query.deviceFingerprint(eventTime)');
    expect(paths).toContain('CaptchaValidation.proceed');
    expect(paths).toContain('DeviceBasic');
  });

  test('everything with a name has one, in a sentence', () => {
    const lacking = named.filter(
      ([, { description }]) => !/^[A-Z`"][\s\S]+[.?]$/.test(description?.value.trim() ?? ''),
    );
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  test('no type, field or value is named twice', () => {
    const paths = named.map(([path]) => path);
    expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([]);
  });
});

describe('the SDL that a router reads', async () => {
  const { data } = await ask(app.graphqlUrl, '{ _service { sdl } }');
  const sdl: string = data._service.sdl;
  const printed = (kind: Kind, name: string) => {
    const found = parse(sdl).definitions.filter(
      (node) => node.kind === kind && 'name' in node && node.name?.value === name,
    );
    return found.map((node) => print(node)).join('\n');
  };

  test('links federation 2.9, once', () => {
    expect(sdl.match(/@link\(url: "/g)).toHaveLength(1);
    expect(sdl).toMatch(/@link\(\s*url: "https:\/\/specs\.apollo\.dev\/federation\/v2\.9"/);
    for (const name of ['@key', '@inaccessible', '@cost', '@listSize'])
      expect(sdl).toMatch(new RegExp(`import: \\[[^\\]]*"${name}"`));
  });

  test('DeviceFingerprint has both keys, and keeps its token inside', () => {
    const type = printed(Kind.OBJECT_TYPE_DEFINITION, 'DeviceFingerprint');
    const [, head] = /^type (DeviceFingerprint .*)\{$/m.exec(type) ?? [];
    expect(head?.match(/@key\([^)]*\)/g)).toEqual(['@key(fields: "token")', '@key(fields: "token publicKey")']);
    expect(type).toMatch(/^ {2}token: ID! @inaccessible$/m);
  });

  test('FingerprintDevice is for others to extend', () => {
    expect(printed(Kind.OBJECT_TYPE_DEFINITION, 'FingerprintDevice')).toMatch(
      /^type FingerprintDevice @key\(fields: "id", resolvable: false\) @tag\(name: "risk"\) \{$/m,
    );
  });

  test('the roots can be null, so that one error does not spoil a neighbour', () => {
    expect(printed(Kind.OBJECT_TYPE_DEFINITION, 'Query')).toMatch(/\): DeviceFingerprintResult @cost/);
    expect(printed(Kind.OBJECT_TYPE_DEFINITION, 'Mutation')).toMatch(/\): CaptchaValidation @cost/);
  });

  test('descriptions are passed on', () => {
    expect(sdl).toContain('A risk signal that was hit.');
  });
});
